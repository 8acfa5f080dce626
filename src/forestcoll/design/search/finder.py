"""The topology finder (§5.4): all networks of a size and degree that expansions make of base networks.

A network of N nodes and degree d, in short (N, d), is one of:

- a base network,
- the line graph of a network of (N/d, d),
- the degree expansion of a network of (N/n, d/n),
- the Cartesian power of a network of (N^(1/n), d/n),
- the Cartesian product of two networks whose sizes multiply to N and whose degrees add up to d,
- a network of (N, d/n) with n parallel links instead of each link.

For each intermediate (N, d) only the Pareto frontier in the steps T_L and the bandwidth time T_B is kept, and in more
measures if they are given. The theorems predict both, and no schedule is made. The cost of an expansion grows with the
cost of its base in every theorem, so pruning loses nothing. Products need factors with bandwidth-optimal breadth-first
schedules. The factor with the fewest steps is kept in addition to the frontier (`factors`).

Costs that must be counted are counted last, and only if the least cost that is possible is not already reached. In the
search for networks of a smaller degree, whose links are then repeated, the networks of (N, d) are rivals: what they
beat is not counted. With more measures, all costs are counted, because a cost says nothing about another measure.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, NoSolutionError, listed, shown
from forestcoll.design.constructions import Construction
from forestcoll.design.expansions.bidirectional import Bidirectional
from forestcoll.design.expansions.breadth_first import BreadthFirst
from forestcoll.design.expansions.cartesian_power import CartesianPower
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.expansions.line_graph import LineGraph
from forestcoll.design.expansions.parallel import Parallel
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor, moore_steps
from forestcoll.design.search.catalogue import bases as listed_bases
from forestcoll.design.search.catalogue import kautz, kautz_bound, may_be_bidirectional
from forestcoll.design.search.divisors import divisors, primes_of
from forestcoll.design.search.factors import Factors

MAX_NODES = 16384
"""The maximum number of nodes. The limit exists because the costs of some bases are counted over all node pairs."""

MAX_PORTS = 64
"""The maximum degree."""


Measure = Callable[[Construction], Fraction | int]
"""A measure of a network, besides the steps and the bandwidth time of its allgather. Less is better."""


@dataclass(frozen=True, repr=False)
class Frontier(Displayed):
    """The best networks of a size and a degree: the Pareto frontier in the number of steps and in the bandwidth time.

    Attributes:
        nodes: the number of nodes N.
        degree: the degree d, the number of links that leave each node.
        bidirectional: whether the search was for bidirectional networks only.
        members: the networks for which no other network is at least as good in both the steps (T_L) and the bandwidth
            factor (T_B in units of M/B). They are sorted by increasing steps, which is also decreasing T_B.
        with_exchanges: whether the rate of an all-to-all is a third measure (`exchange_frontier`).

    Example:
        >>> frontier = find_topologies(12, 2)
        >>> [(each.name, each.cost.steps, str(each.cost.bandwidth_factor)) for each in frontier.members]
        [('Π(2,12)', 3, '7/6'), ('Cayley(2,12)', 4, '11/12')]
    """

    nodes: int
    degree: int
    bidirectional: bool
    members: tuple[Construction, ...]
    with_exchanges: bool = False


class TopologyFinder:
    """A search for networks (*Efficient direct-connect topologies*, §5.4) that reuses its results in later calls.

    Args:
        bidirectional: use bidirectional networks only.
        published_only: use the base networks of the paper only.
        bases: more base networks, which `base_network` makes of networks or schedules of the user.
        measures: more measures, in which each kept network is the best of those with its steps and bandwidth time.

    Example:
        >>> finder = TopologyFinder(bidirectional=True)
        >>> [finder.find(nodes, 4).members[0].name for nodes in (4, 6, 8)]
        ['BiRing(4,4)', 'DistReg(4,6)', 'K(4,4)']
    """

    def __init__(
        self,
        *,
        bidirectional: bool = False,
        published_only: bool = False,
        bases: Sequence[Construction] = (),
        measures: Sequence[Measure] = (),
    ) -> None:
        self.bidirectional = bool(bidirectional)
        self.published_only = bool(published_only)
        self.bases = listed(bases, Construction, "bases", "a network that design.base_network makes")
        self.measures = tuple(measures)
        self._frontiers: dict[tuple[int, int], tuple[Construction, ...]] = {}
        self._factors = Factors(self._factor_bases)
        self._own: dict[tuple[int, int], list[Construction]] = {(base.nodes, base.degree): [] for base in self.bases}
        for base in self.bases:
            self._own[base.nodes, base.degree].append(base)
        self._one_way = self.like(bidirectional=False) if self.bidirectional else self

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
        members = self._offered(nodes, degree)
        if not members:
            raise NoSolutionError(self._no_network_message(nodes, degree))
        return Frontier(nodes, degree, self.bidirectional, members)

    def like(self, **changes: Any) -> "TopologyFinder":
        """Return a finder with the arguments of this one, but for `changes`."""
        kept = {name: getattr(self, name) for name in ("bidirectional", "published_only", "bases", "measures")}
        return TopologyFinder(**(kept | changes))

    @cached_property
    def narrower(self) -> tuple["TopologyFinder", ...]:
        """The finders with one restriction more: of bidirectional networks, of the paper's bases, without own bases."""
        found = []
        if not self.bidirectional:
            found.append(self.like(bidirectional=True))
        if not self.published_only:
            found.append(self.like(published_only=True))
        if self.bases:
            found.append(self.like(bases=()))
        return tuple(found)

    def listed(self, nodes: int, degree: int) -> tuple[Construction, ...]:
        """Return all networks of a size and degree that are made of the frontiers of smaller ones."""
        return self._listed(nodes, degree, ())

    def _offered(self, nodes: int, degree: int, rivals: Sequence[Construction] = ()) -> tuple[Construction, ...]:
        """Return the frontier of this and of all narrower searches, so that more networks are never a worse answer.

        This search does not try everything that narrower ones try: bidirectional networks are made of one-way ones.
        """
        offered = self._frontier(nodes, degree, rivals)
        for other in self.narrower:
            hoped = Cost(moore_steps(nodes, degree, bidirectional=other.bidirectional), least_factor(nodes))
            if not _is_reached(hoped, (*rivals, *offered)):
                offered = pareto((*offered, *other._offered(nodes, degree, (*rivals, *offered))))  # noqa: SLF001 (another finder of this class)
        return offered

    def _no_network_message(self, nodes: int, degree: int) -> str:
        near = sorted(range(2, nodes + 9), key=lambda other: (abs(other - nodes), other))
        works = next((other for other in near if self._frontier(other, degree)), None)
        hint = f"the nearest number of nodes that works is {works}" if works else "choose another degree"
        return f"no bidirectional network of {nodes} nodes with {degree} links each is known; {hint}"

    def _frontier(self, nodes: int, degree: int, rivals: Sequence[Construction] = ()) -> tuple[Construction, ...]:
        """Return the frontier. Networks that are beaten by one of the `rivals` may be missing."""
        key = (nodes, degree)
        if key in self._frontiers:
            return self._frontiers[key]
        found = pareto(self._listed(nodes, degree, rivals), self.measures)
        if not rivals:
            self._frontiers[key] = found
        return found

    def _listed(self, nodes: int, degree: int, rivals: Sequence[Construction]) -> tuple[Construction, ...]:
        predicted = self._candidates(nodes, degree, rivals)
        return (*predicted, *self._rescheduled(predicted, rivals))

    def _candidates(self, nodes: int, degree: int, rivals: Sequence[Construction] = ()) -> tuple[Construction, ...]:
        listed, expanded = tuple(self._bases(nodes, degree)), tuple(self._expanded(nodes, degree))
        graph = tuple(self._kautz(nodes, degree, (*listed, *expanded), rivals))
        known = (*listed, *graph, *expanded)
        return (*known, *self._parallel(nodes, degree, known, rivals))

    def _bases(self, nodes: int, degree: int) -> Iterator[Construction]:
        own = self._own.get((nodes, degree), [])
        return self._allowed((*own, *listed_bases(nodes, degree, published_only=self.published_only)))

    def _factor_bases(self, nodes: int, degree: int) -> Iterator[Construction]:
        own = self._own.get((nodes, degree), [])
        listed = listed_bases(nodes, degree, published_only=self.published_only, for_products=True)
        return self._allowed((*own, *listed))

    def _allowed(self, networks: Iterable[Construction]) -> Iterator[Construction]:
        return (base for base in networks if base.is_bidirectional or not self.bidirectional)

    def _kautz(
        self, nodes: int, degree: int, others: Sequence[Construction], rivals: Sequence[Construction]
    ) -> Iterator[Construction]:
        """Yield the generalized Kautz graph, if it may be better than `others` and `rivals`. Its cost is counted."""
        if degree < 2 or (self.bidirectional and not may_be_bidirectional(nodes, degree)):
            return
        least = kautz_bound(nodes, degree)
        better = [each for each in others if each.cost != least]  # the line graph of a Kautz graph is a Kautz graph
        reached = _is_reached(Cost(least.steps, least_factor(nodes)), others) or _is_reached(least, better)
        if not self.measures and (reached or _is_beaten(least, rivals)):
            return
        graph = kautz(nodes, degree)
        if graph is not None:
            yield from self._allowed([graph])

    def _expanded(self, nodes: int, degree: int) -> Iterator[Construction]:
        if self.bidirectional:
            yield from self._bidirectional_of(nodes, degree)
        else:
            yield from self._line_graphs(nodes, degree)
        yield from self._degree_expansions(nodes, degree)
        yield from self._powers(nodes, degree)
        product = self._factors.best_product(nodes, degree)
        if product is not None:
            yield product

    def _line_graphs(self, nodes: int, degree: int) -> Iterator[Construction]:
        if degree > 1 and nodes % degree == 0 and nodes // degree > 1:
            for base in self._frontier(nodes // degree, degree):
                if base.branches:
                    yield LineGraph.of(base)

    def _degree_expansions(self, nodes: int, degree: int) -> Iterator[Construction]:
        for copies in divisors(gcd(nodes, degree))[1:]:
            if nodes // copies > 1:
                for base in self._frontier(nodes // copies, degree // copies):
                    if not base.has_loops:
                        yield DegreeExpansion.of(base, copies)

    def _powers(self, nodes: int, degree: int) -> Iterator[Construction]:
        for exponent in divisors(degree)[1:]:
            root = round(nodes ** (1 / exponent))
            if root > 1 and root**exponent == nodes:
                for base in self._frontier(root, degree // exponent):
                    yield CartesianPower.of(base, exponent)

    def _parallel(
        self, nodes: int, degree: int, others: Sequence[Construction], rivals: Sequence[Construction]
    ) -> Iterator[Construction]:
        """Yield networks of smaller degrees with parallel links, if they may be better than `others` and `rivals`.

        The degree is divided by one prime number at a time, so other numbers of copies are copies of copies.
        """
        for copies in primes_of(degree):
            hoped = Cost(moore_steps(nodes, degree // copies), least_factor(nodes))
            if self.measures or not (_is_reached(hoped, others) or _is_beaten(hoped, rivals)):
                rivalling = () if self.measures else (*rivals, *others)
                for base in self._frontier(nodes, degree // copies, rivalling):
                    yield Parallel.of(base, copies)

    def _bidirectional_of(self, nodes: int, degree: int) -> Iterator[Construction]:
        if degree % 2 or degree < 2:
            return
        for base in self._one_way._frontier(nodes, degree // 2):  # noqa: SLF001 (another finder of this class)
            if base.is_bidirectional or base.has_loops or not base.branches or base.mirror() is None:
                continue  # a one-way ring, which does not branch, gives a bidirectional ring, which is a base
            yield Bidirectional.of(base)

    @staticmethod
    def _rescheduled(predicted: Sequence[Construction], rivals: Sequence[Construction] = ()) -> Iterator[Construction]:
        """Yield expanded networks with a breadth-first schedule, if it may be better than all known costs.

        The breadth-first schedule takes as many steps as the diameter, and a degree expansion no less time than its
        base. The breadth-first schedules of line graphs and of networks with parallel links are those of their bases,
        expanded.
        """
        best = list(pareto(predicted))
        for construction in predicted:
            if (
                construction.is_breadth_first
                or isinstance(construction, LineGraph | Parallel)
                or _is_nested(construction)
            ):
                continue
            counted = construction.base if isinstance(construction, DegreeExpansion) else construction
            hoped = _hoped(construction)
            if counted.degree > MAX_DEGREE or _is_reached(hoped, best) or _is_beaten(hoped, rivals):
                continue
            least = BreadthFirst.least_cost(construction)
            if not _is_reached(least, best) and not _is_beaten(least, rivals):
                best.append(BreadthFirst.of(construction))
                yield best[-1]


def find_topologies(
    nodes: int,
    degree: int,
    *,
    bidirectional: bool = False,
    published_only: bool = False,
    bases: Sequence[Construction] = (),
) -> Frontier:
    """Find the best networks of a size and a degree for allgather and allreduce (§5.4 of the direct-connect paper).

    Args:
        nodes: the number of nodes N.
        degree: the degree d: the number of links that leave each node, and that enter each node.
        bidirectional: use bidirectional networks only.
        published_only: use the base networks of the paper only.
        bases: more base networks, which `base_network` makes of networks or schedules of the user.

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
    return TopologyFinder(bidirectional=bidirectional, published_only=published_only, bases=bases).find(nodes, degree)


def pareto(candidates: Iterable[Construction], measures: Sequence[Measure] = ()) -> tuple[Construction, ...]:
    """Return the networks that no other one reaches in steps, bandwidth time and measures, by increasing cost.

    On a tie, breadth-first schedules win, then the first candidate.
    """
    measured = [(values_of(each, measures), each) for each in candidates]
    kept: list[tuple[Values, Construction]] = []
    for values, candidate in sorted(measured, key=lambda pair: (pair[0], not pair[1].is_breadth_first)):
        if not any(reaches(best, values) for best, _ in kept):
            kept.append((values, candidate))
    return tuple(candidate for _, candidate in kept)


Values = tuple[Fraction | int, ...]
"""The steps, the bandwidth time and the measures of a network."""


def values_of(construction: Construction, measures: Sequence[Measure]) -> Values:
    """Return the steps, the bandwidth time and the measures of a network."""
    return (construction.cost.steps, construction.cost.bandwidth_factor, *(each(construction) for each in measures))


def reaches(one: Values, other: Values) -> bool:
    """Return whether a network is at least as good as another one in all values."""
    return all(mine <= its for mine, its in zip(one, other, strict=True))


def _is_nested(construction: Construction) -> bool:
    """Return whether this is the degree expansion of a degree expansion, whose network is that of one expansion."""
    if not isinstance(construction, DegreeExpansion):
        return False
    inner = construction.base.base if isinstance(construction.base, BreadthFirst) else construction.base
    return isinstance(inner, DegreeExpansion)


def _hoped(construction: Construction) -> Cost:
    """Return the least possible cost of a breadth-first schedule on an expanded network."""
    steps, factor = _fewest_steps(construction), least_factor(construction.nodes)
    if isinstance(construction, DegreeExpansion) and construction.base.is_breadth_first:
        return Cost(steps, max(factor, construction.base.cost.bandwidth_factor))
    return Cost(steps, factor)


def _fewest_steps(construction: Construction) -> int:
    """Return a lower bound on the diameter."""
    if construction.is_breadth_first:
        return construction.cost.steps
    if isinstance(construction, DegreeExpansion):
        shortest_cycle = construction.base.nodes if construction.base.degree == 1 else 2
        return max(shortest_cycle, _fewest_steps(construction.base))
    if isinstance(construction, CartesianPower):
        return construction.exponent * _fewest_steps(construction.base)
    return moore_steps(construction.nodes, construction.degree, bidirectional=construction.is_bidirectional)


def _is_reached(hoped: Cost, known: Iterable[Construction]) -> bool:
    """Return whether a network has at most these steps and at most this T_B."""
    return any(
        each.cost.steps <= hoped.steps and each.cost.bandwidth_factor <= hoped.bandwidth_factor for each in known
    )


def _is_beaten(hoped: Cost, rivals: Iterable[Construction]) -> bool:
    """Return whether a network with parallel links and this cost, or more, is dropped because of a rival (`pareto`)."""
    return _is_reached(hoped, (each for each in rivals if each.is_breadth_first or each.cost != hoped))


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
