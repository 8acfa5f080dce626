"""The same throughput with fewer trees of equal weight, if the ports that do not limit it have spare time.

A basis of the linear program has about as many trees as there are ports that are busy all the time. This is also so if
a single slow node limits the throughput and all other nodes have spare time. Therefore trees are chosen one after the
other, until all chosen trees with equal weights fit. Each tree is the cheapest one for prices that grow with the use of
a port by the earlier trees (multiplicative weights; Young 1995). Only trees of least price in the optimality proof can
reach the optimum, so ports with a price in the proof get a price that dominates all others. The choice is made in
floating point. Whether the trees fit is checked in fractions.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.oneport.arborescence import cheapest_tree
from forestcoll.oneport.logical import logical_arcs, outwards
from forestcoll.oneport.platform import Platform
from forestcoll.proof.prices import PricesProof
from forestcoll.schedule.series.value import SeriesTree

MAX_CHOSEN = 32
"""The maximum number of chosen trees. Each choice computes one cheapest tree."""

_STEEPNESS = 10.0
"""The logarithm of the ratio between the price of a port that is always busy and the price of an idle port."""

_OUTWEIGHS = 1e6

Routes = tuple[tuple[int, ...], ...]


def fewer_trees(platform: Platform, trees: tuple[SeriesTree, ...], certificate: PricesProof) -> tuple[SeriesTree, ...]:
    """Return fewer trees with the same throughput as `trees` if such trees are found, else `trees`.

    Args:
        platform: the network with its source.
        trees: optimal trees.
        certificate: the proof that `trees` are optimal.
    """
    throughput = sum((tree.weight for tree in trees), Fraction(0))
    choice = _Choice(platform, certificate)
    chosen: list[Routes] = []
    for count in range(1, min(MAX_CHOSEN, len(trees) - 1) + 1):
        chosen.append(choice.next(float(throughput)))
        if choice.busiest * throughput <= count:
            return _weighted(chosen, throughput)
    return trees


def _weighted(chosen: Sequence[Routes], throughput: Fraction) -> tuple[SeriesTree, ...]:
    """Return each chosen tree once, with a weight proportional to how often it was chosen."""
    counts: dict[Routes, int] = {}
    for routes in chosen:
        counts[routes] = counts.get(routes, 0) + 1
    by_count = sorted(counts.items(), key=lambda each: -each[1])
    return tuple(SeriesTree(throughput * count / len(chosen), routes) for routes, count in by_count)


class _Choice:
    """The exact time that the chosen trees need at each port, and the choice of the next tree."""

    def __init__(self, platform: Platform, certificate: PricesProof) -> None:
        self._platform = platform
        self._place = {port: number for number, port in enumerate(platform.all_ports)}
        self._loads = [Fraction(0)] * len(self._place)
        self._count = 0
        prices = np.zeros(len(self._place))
        for port, price in certificate.prices:
            prices[self._place[port]] = float(price)
        self._prices = _OUTWEIGHS * prices / prices.max()
        self._unit = min(platform.costs)
        self._costs = [float(cost / self._unit) for cost in platform.costs]

    @property
    def busiest(self) -> Fraction:
        """The time that the busiest port needs if each chosen tree carries one message."""
        return max(self._loads)

    def next(self, throughput: float) -> Routes:
        """Choose the next tree and return its routes."""
        prices = self._prices + self._weights(throughput)
        of_links = [
            cost * sum(prices[self._place[port]] for port in ports)
            for cost, ports in zip(self._costs, self._platform.ports, strict=True)
        ]
        listed = logical_arcs(self._platform, of_links)
        found = cheapest_tree(self._platform.topology.compute, listed.arcs, listed.costs, self._platform.source)
        routes = outwards((listed.routes[arc] for arc in found.arcs), self._platform.source)
        self._count += 1
        for route in routes:
            for link in self._platform.links_of(route):
                for port in self._platform.ports[link]:
                    self._loads[self._place[port]] += self._platform.costs[link]
        return routes

    def _weights(self, throughput: float) -> npt.NDArray[np.float64]:
        """Return the prices of the ports by their use so far, with an average of 1."""
        needed = np.array([float(load) for load in self._loads]) * throughput / max(1, self._count)
        weights: npt.NDArray[np.float64] = np.exp(_STEEPNESS * (needed - needed.max()))
        weights /= weights.mean()
        return weights
