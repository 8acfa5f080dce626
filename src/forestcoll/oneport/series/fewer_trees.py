"""A given throughput with few trees of equal weight, if the ports that do not limit it have spare time.

A basis of the linear program has about as many trees as there are ports that are busy all the time. This is also so if
a single slow node limits the throughput and all other nodes have spare time. Therefore trees are chosen one after the
other, until all chosen trees with equal weights fit. Each tree is the cheapest one for prices that grow with the use of
a port by the earlier trees (multiplicative weights; Young 1995). Only trees of least price in the optimality proof can
reach the optimum, so ports with a price in the proof get a price that dominates all others. For some numbers of trees,
local search (`exchange`) tries to make the chosen trees fit. The choice is made in floating point. Whether the trees
fit is checked in fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import as_float
from forestcoll.oneport.platform.link_prices import LinkPrices
from forestcoll.oneport.platform.logical import logical_arcs, outwards
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.exchange import exchanged
from forestcoll.schedule.proof.prices import Port, PortKind, PricesProof
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology.graph.arborescence import cheapest_tree

MAX_CHOSEN = 32
"""The maximum number of chosen trees. Each choice computes one cheapest tree."""

_SEARCHED = frozenset({2, 3, 4, 6, 8, 12})
"""The numbers of trees from which local search starts."""

_STEEPNESS = 10.0
"""The logarithm of the ratio between the price of a port that is always busy and the price of an idle port."""

_OUTWEIGHS = 1e6

_CLOSE = 1e-6

Routes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class EqualTrees:
    """The result of a search for trees of equal weight.

    Attributes:
        trees: trees with the wanted throughput, or None if none were found.
        chosen: the trees that were chosen one after the other, before local search.
    """

    trees: tuple[SeriesTree, ...] | None
    chosen: tuple[Routes, ...]


def equal_trees(
    platform: Platform, throughput: Fraction, certificate: PricesProof, most: int, *, reachable: bool = True
) -> EqualTrees:
    """Search for at most `most` trees of equal weight with the given throughput.

    Args:
        platform: the network with its source.
        throughput: messages per unit of time, of all trees together.
        certificate: a proof of an upper bound of the throughput, which is not below `throughput`.
        most: the maximum number of trees; a tree may be counted more than once.
        reachable: whether it is known that a schedule with this throughput exists. If not, there is no local search
            once the prices of a choice show that there is none.
    """
    choice = _Choice(platform, certificate)
    steps = _steps_of_full_ports(platform, certificate) if throughput == certificate.throughput else []
    chosen: list[Routes] = []
    for count in range(1, min(MAX_CHOSEN, most) + 1):
        chosen.append(choice.next(as_float(throughput)))
        reachable_here = reachable or choice.bound() >= throughput * (1 - _CLOSE)
        if not reachable_here or any((count / throughput / step).denominator > 1 for step in steps):
            continue
        if choice.nearly_fits(as_float(throughput)) and _fit(platform, chosen, throughput):
            return EqualTrees(_weighted(chosen, throughput), tuple(chosen))
        found = exchanged(platform, chosen, as_float(throughput)) if count in _SEARCHED else None
        if found is not None and _fit(platform, found, throughput):
            return EqualTrees(_weighted(found, throughput), tuple(chosen))
    return EqualTrees(None, tuple(chosen))


def _steps_of_full_ports(platform: Platform, certificate: PricesProof) -> list[Fraction]:
    """Return, for each port with a price, the greatest number of which all costs of its links are multiples.

    A port with a price is always busy if the throughput is the bound. So n trees of equal weight can reach the bound
    only if n messages take a multiple of this number.
    """
    steps = []
    for port, _ in certificate.prices:
        each = zip(platform.costs, platform.uses, strict=True)
        costs = [part * cost for cost, uses in each for used, part in uses if used == port]
        scale = lcm(*(cost.denominator for cost in costs))
        steps.append(Fraction(gcd(*(int(cost * scale) for cost in costs)), scale))
    return steps


def _fit(platform: Platform, trees: Sequence[Routes], throughput: Fraction) -> bool:
    """Return whether every port has the time for `throughput` along `trees` with equal weights."""
    return _busiest(platform, trees) * throughput <= len(trees)


def _weighted(chosen: Sequence[Routes], throughput: Fraction) -> tuple[SeriesTree, ...]:
    """Return each chosen tree once, with a weight proportional to how often it was chosen."""
    counts: dict[Routes, int] = {}
    for routes in chosen:
        counts[routes] = counts.get(routes, 0) + 1
    by_count = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(SeriesTree(throughput * count / len(chosen), routes) for routes, count in by_count)


def _busiest(platform: Platform, trees: Sequence[Routes]) -> Fraction:
    """Return the time that the busiest port needs if each tree carries one message."""
    uses: dict[int, int] = {}
    for routes in trees:
        for route in routes:
            for link in platform.links_of(route):
                uses[link] = uses.get(link, 0) + 1
    loads: dict[Port, Fraction] = {}
    for link, count in uses.items():
        for port, part in platform.uses[link]:
            loads[port] = loads.get(port, Fraction(0)) + count * part * platform.costs[link]
    return max(loads.values())


class _Choice:
    """The time that the chosen trees need at each port, and the choice of the next tree."""

    def __init__(self, platform: Platform, certificate: PricesProof) -> None:
        self._platform = platform
        place = {port: number for number, port in enumerate(platform.all_ports)}
        self._loads = np.zeros(len(place))
        self._count = 0
        prices = np.zeros(len(place))
        for port, price in certificate.prices:
            prices[place[port]] = as_float(price)
        for price, inside in certificate.odd_sets:
            odd_set = Port(PortKind.ODD_SET, platform.odd_sets.index(inside))
            prices[place[odd_set]] = as_float(price) * (len(inside) // 2)
        self._prices = _OUTWEIGHS * prices / prices.max()
        self._links = LinkPrices(platform)

    def next(self, throughput: float) -> Routes:
        """Choose the next tree and return its routes."""
        self._weigh(throughput)
        routes, _ = self._cheapest(self._prices + self._weights)
        self._count += 1
        for route in routes:
            for link in self._platform.links_of(route):
                self._links.add_times(link, self._loads)
        return routes

    def nearly_fits(self, throughput: float) -> bool:
        """Return whether the chosen trees fit with equal weights, up to rounding."""
        return bool(self._loads.max() * throughput <= self._count * (1 + _CLOSE))

    def bound(self) -> float:
        """Return a bound on the throughput of the platform, by the prices of the last choice without the proof."""
        _, cost = self._cheapest(self._weights)
        return as_float(self._weights.sum()) / cost if cost > 0 else float("inf")

    def _cheapest(self, prices: npt.NDArray[np.float64]) -> tuple[Routes, float]:
        """Return the cheapest tree and its cost."""
        listed = logical_arcs(self._platform, self._links.of_links(prices).tolist())
        found = cheapest_tree(self._platform.topology.compute, listed.arcs, listed.costs, self._platform.source)
        routes = outwards((listed.routes[arc] for arc in found.arcs), self._platform.source)
        return routes, sum(listed.costs[arc] for arc in found.arcs)

    def _weigh(self, throughput: float) -> None:
        """Compute the prices of the ports by their use so far, with an average of 1."""
        needed = self._loads * throughput / max(1, self._count)
        self._weights: npt.NDArray[np.float64] = np.exp(_STEEPNESS * (needed - needed.max()))
        self._weights /= self._weights.mean()
