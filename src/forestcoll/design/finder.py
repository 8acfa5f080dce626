"""The topology finder (§5.4): all networks of a size and degree that expansions make of base networks.

A network of N nodes and degree d, in short (N, d), is one of:

- a base network,
- the line graph of a network of (N/d, d),
- the degree expansion of a network of (N/n, d/n),
- the Cartesian power of a network of (N^(1/n), d/n),
- the Cartesian product of two networks whose sizes multiply to N and whose degrees add up to d.

For each intermediate (N, d) only the Pareto frontier in the steps T_L and the bandwidth time T_B is kept. The theorems
predict both, and no schedule is made. The cost of an expansion grows with the cost of its base in every theorem, so
pruning loses nothing. Products need factors with bandwidth-optimal breadth-first schedules. The factor with the fewest
steps is kept in addition to the frontier.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from forestcoll.design.catalogue import bases
from forestcoll.design.constructions import (
    Bidirectional,
    BreadthFirst,
    CartesianPower,
    CartesianProduct,
    Construction,
    DegreeExpansion,
    LineGraph,
)
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor, moore_steps
from forestcoll.errors import InputError, NoSolutionError, shown

MAX_NODES = 8192
"""The maximum number of nodes. The limit exists because the costs of some bases are counted over all node pairs."""

MAX_PORTS = 64
"""The maximum degree."""


@dataclass(frozen=True)
class Frontier:
    """The best networks of a size and a degree: the Pareto frontier in the number of steps and in the bandwidth time.

    Attributes:
        nodes: the number of nodes N.
        degree: the degree d, the number of links that leave each node.
        bidirectional: whether the search was for bidirectional networks only.
        members: the networks for which no other network is at least as good in both the steps (T_L) and the bandwidth
            factor (T_B in units of M/B). They are sorted by increasing steps, which is also decreasing T_B.

    Example:
        >>> frontier = find_topologies(12, 2)
        >>> [(each.name, each.cost.steps, str(each.cost.bandwidth_factor)) for each in frontier.members]
        [('Π(2,12)', 3, '7/6'), ('Cayley(2,12)', 4, '11/12')]
    """

    nodes: int
    degree: int
    bidirectional: bool
    members: tuple[Construction, ...]


class TopologyFinder:
    """A search for networks (*Efficient direct-connect topologies*, §5.4) that reuses its results in later calls.

    Args:
        bidirectional: use bidirectional networks only.
        published_only: use the base networks of the paper only.

    Example:
        >>> finder = TopologyFinder(bidirectional=True)
        >>> [finder.find(nodes, 4).members[0].name for nodes in (4, 6, 8)]
        ['BiRing(4,4)', 'DistReg(4,6)', 'K(4,4)']
    """

    def __init__(self, *, bidirectional: bool = False, published_only: bool = False) -> None:
        self._bidirectional = bidirectional
        self._published_only = published_only
        self._frontiers: dict[tuple[int, int], tuple[Construction, ...]] = {}
        self._factors: dict[tuple[int, int], Construction | None] = {}
        self._one_way = self if not bidirectional else TopologyFinder(published_only=published_only)

    def find(self, nodes: int, degree: int) -> Frontier:
        """Return the frontier of networks with `nodes` nodes, each with `degree` outgoing and `degree` incoming links.

        Args:
            nodes: the number of nodes N.
            degree: the degree d.

        Raises:
            InputError: a number is out of range.
            NoSolutionError: no such network is known. The message names the nearest size with a network.
        """
        check_question(nodes, degree)
        members = self._frontier(nodes, degree)
        if not members:
            raise NoSolutionError(self._no_network_message(nodes, degree))
        return Frontier(nodes, degree, self._bidirectional, members)

    def _no_network_message(self, nodes: int, degree: int) -> str:
        near = sorted(range(2, nodes + 9), key=lambda other: (abs(other - nodes), other))
        works = next((other for other in near if self._frontier(other, degree)), None)
        hint = f"the nearest number of nodes that works is {works}" if works else "choose another degree"
        return f"no bidirectional network of {nodes} nodes with {degree} links each is known; {hint}"

    def _frontier(self, nodes: int, degree: int) -> tuple[Construction, ...]:
        key = (nodes, degree)
        if key not in self._frontiers:
            predicted = tuple(self._candidates(nodes, degree))
            self._frontiers[key] = pareto((*predicted, *_rescheduled(predicted)))
        return self._frontiers[key]

    def _factor(self, nodes: int, degree: int) -> Construction | None:
        """Return the network with the fewest steps that can be a factor of a product (Theorem 13), or None."""
        key = (nodes, degree)
        if key not in self._factors:
            predicted = [
                *self._bases(nodes, degree, for_products=True),
                *self._products(nodes, degree),
                *self._expanded_factors(nodes, degree),
            ]
            fit = filter(_fits_products, (*predicted, *_rescheduled(predicted)))
            self._factors[key] = min(fit, key=lambda each: each.cost, default=None)
        return self._factors[key]

    def _expanded_factors(self, nodes: int, degree: int) -> Iterator[Construction]:
        for copies in _divisors(gcd(nodes, degree)):
            base = self._factor(nodes // copies, degree // copies) if 1 < copies < nodes else None
            if base is not None:
                yield DegreeExpansion.of(base, copies)

    def _bases(self, nodes: int, degree: int, *, for_products: bool = False) -> Iterator[Construction]:
        for base in bases(nodes, degree, published_only=self._published_only, for_products=for_products):
            if base.is_bidirectional or not self._bidirectional:
                yield base

    def _candidates(self, nodes: int, degree: int) -> Iterator[Construction]:
        yield from self._bases(nodes, degree)
        if self._bidirectional:
            yield from self._bidirectional_of(nodes, degree)
        else:
            yield from self._line_graphs(nodes, degree)
        yield from self._degree_expansions(nodes, degree)
        yield from self._powers(nodes, degree)
        yield from self._products(nodes, degree)

    def _line_graphs(self, nodes: int, degree: int) -> Iterator[Construction]:
        if degree > 1 and nodes % degree == 0 and nodes // degree > 1:
            for base in self._frontier(nodes // degree, degree):
                if base.wiring.branches:
                    yield LineGraph.of(base)

    def _degree_expansions(self, nodes: int, degree: int) -> Iterator[Construction]:
        for copies in _divisors(gcd(nodes, degree)):
            if copies > 1 and nodes // copies > 1:
                for base in self._frontier(nodes // copies, degree // copies):
                    if base.is_simple or not base.wiring.has_loops:
                        yield DegreeExpansion.of(base, copies)

    def _powers(self, nodes: int, degree: int) -> Iterator[Construction]:
        for exponent in _divisors(degree):
            root = round(nodes ** (1 / exponent))
            if exponent > 1 and root > 1 and root**exponent == nodes:
                for base in self._frontier(root, degree // exponent):
                    yield CartesianPower.of(base, exponent)

    def _products(self, nodes: int, degree: int) -> Iterator[Construction]:
        for size in _divisors(nodes):
            if not 1 < size < nodes:
                continue
            for ports in range(1, degree):
                one, other = self._factor(size, ports), self._factor(nodes // size, degree - ports)
                if one is not None and other is not None and (size, ports) <= (nodes // size, degree - ports):
                    yield CartesianProduct.of((*_flat(one), *_flat(other)))

    def _bidirectional_of(self, nodes: int, degree: int) -> Iterator[Construction]:
        if degree % 2 or degree < 2:
            return
        for base in self._one_way._frontier(nodes, degree // 2):  # noqa: SLF001 (another finder of this class)
            if base.is_bidirectional or base.wiring.has_loops or base.mirror() is None:
                continue
            yield Bidirectional.of(base)


def find_topologies(nodes: int, degree: int, *, bidirectional: bool = False, published_only: bool = False) -> Frontier:
    """Find the best networks of a size and a degree for allgather and allreduce (§5.4 of the direct-connect paper).

    Args:
        nodes: the number of nodes N.
        degree: the degree d: the number of links that leave each node, and that enter each node.
        bidirectional: use bidirectional networks only.
        published_only: use the base networks of the paper only.

    Returns:
        The networks, from the fewest steps to the least bandwidth time. `topology_of` and `schedule_of` make the
        network and its schedule.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known. The message names the nearest size with a network.

    Example:
        >>> best = find_topologies(8, 2).members[0]
        >>> best.name, best.cost.steps, str(best.cost.bandwidth_factor)
        ('Cayley(2,8)', 3, '7/8')
    """
    return TopologyFinder(bidirectional=bidirectional, published_only=published_only).find(nodes, degree)


def pareto(candidates: Iterable[Construction]) -> tuple[Construction, ...]:
    """Return the Pareto frontier of the candidates, by increasing steps. On a tie, the first candidate is kept."""
    ranked = sorted(candidates, key=lambda each: (each.cost, not each.is_breadth_first))  # stable
    kept: list[Construction] = []
    for candidate in ranked:
        if not kept or candidate.cost.bandwidth_factor < kept[-1].cost.bandwidth_factor:
            kept.append(candidate)
    return tuple(kept)


def _fits_products(construction: Construction) -> bool:
    return construction.is_simple and construction.is_breadth_first and construction.is_bandwidth_optimal


def _rescheduled(predicted: Sequence[Construction]) -> Iterator[Construction]:
    """Yield expanded networks with a breadth-first schedule, if it may be better than all predicted costs.

    The breadth-first schedule takes as many steps as the diameter. Two lower bounds on the diameter exclude networks
    early: the Moore bound, and for a degree expansion the diameter of its base.
    """
    best = [each.cost for each in pareto(predicted)]
    for construction in predicted:
        if construction.is_breadth_first or construction.degree > MAX_DEGREE:
            continue
        hoped = Cost(_fewest_steps(construction), least_factor(construction.nodes))
        if not any(cost.steps <= hoped.steps and cost.bandwidth_factor <= hoped.bandwidth_factor for cost in best):
            yield BreadthFirst.of(construction)


def _fewest_steps(construction: Construction) -> int:
    least = moore_steps(construction.nodes, construction.degree)
    if isinstance(construction, DegreeExpansion):
        return max(least, construction.base.diameter)
    return construction.diameter if isinstance(construction, CartesianPower) else least


def _flat(construction: Construction) -> tuple[Construction, ...]:
    return construction.factors if isinstance(construction, CartesianProduct) else (construction,)


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def check_question(nodes: int, degree: int) -> None:
    """Check that the finder accepts a number of nodes and a degree.

    Raises:
        InputError: a number is out of range.
    """
    _check_number("nodes", nodes, 2, MAX_NODES)
    _check_number("degree", degree, 1, MAX_PORTS)


def _check_number(what: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{what} is {shown(value)}; expected an integer from {least} to {most}")
