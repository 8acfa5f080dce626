"""The same throughput by fewer trees of equal weight, where ports that do not limit it leave room for that.

A basis of the linear program has about as many trees as there are ports that are busy all the time, also where a
single slow node limits the throughput and all others could be idle now and then. So trees are chosen one after the
other, each the cheapest where a port costs the more, the more those before need it (multiplicative weights; Young
1995), until all of them at equal weights fit. Ports that have a price in the proof keep one that outweighs all others:
only trees of least price can reach the optimum. Floating point chooses, and what fits is found in fractions.
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

MOST_TRIED = 32
"""The most trees that are chosen: each takes the time of pricing one."""

_STEEPNESS = 10.0
"""A port that is needed all the time costs e to this power more than one that is not needed."""

_OUTWEIGHS = 1e6

Routes = tuple[tuple[int, ...], ...]


def fewer_trees(platform: Platform, trees: tuple[SeriesTree, ...], certificate: PricesProof) -> tuple[SeriesTree, ...]:
    """Return trees that reach as much as `trees`, fewer if some are found, else `trees`.

    Args:
        platform: where.
        trees: optimal trees.
        certificate: the proof that they are.
    """
    throughput = sum((tree.weight for tree in trees), Fraction(0))
    choice = _Choice(platform, certificate)
    chosen: list[Routes] = []
    for count in range(1, min(MOST_TRIED, len(trees) - 1) + 1):
        chosen.append(choice.next(float(throughput)))
        if choice.busiest * throughput <= count:
            return _weighed(chosen, throughput)
    return trees


def _weighed(chosen: Sequence[Routes], throughput: Fraction) -> tuple[SeriesTree, ...]:
    """Return the trees that were chosen, each once, weighed by how often."""
    counts: dict[Routes, int] = {}
    for routes in chosen:
        counts[routes] = counts.get(routes, 0) + 1
    by_count = sorted(counts.items(), key=lambda each: -each[1])
    return tuple(SeriesTree(throughput * count / len(chosen), routes) for routes, count in by_count)


class _Choice:
    """What the trees chosen so far need each port for, exactly, and which tree comes next."""

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
        """What the busiest port is needed for when each tree carries a message."""
        return max(self._loads)

    def next(self, throughput: float) -> Routes:
        """Choose a tree."""
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
        """Return what ports cost for being needed so far, 1 on average."""
        needed = np.array([float(load) for load in self._loads]) * throughput / max(1, self._count)
        weights: npt.NDArray[np.float64] = np.exp(_STEEPNESS * (needed - needed.max()))
        weights /= weights.mean()
        return weights
