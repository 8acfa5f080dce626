"""The search for networks with three measures: the steps T_L, the bandwidth time T_B and the rate of an all-to-all.

A rate takes a linear program, but its bound by the distances only a count (`Construction.exchange_bound`). For each
intermediate size the networks are kept that no other one reaches in steps, T_B and this bound. All networks of the size
that is asked for are candidates, by decreasing bound. The rate of a candidate is computed only if no network with a
known rate has as few steps, as little T_B, and a rate that reaches the bound of the candidate. So no candidate is lost.

Pruning by the bound could lose a base of a better network. The networks that narrower searches find (those without
Cayley graphs, of bidirectional networks only, or without the networks of the user) are candidates too, so that a search
with more networks never has a worse answer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.expansions.parallel import Parallel
from forestcoll.design.search.catalogue import kautz, may_be_bidirectional
from forestcoll.design.search.divisors import primes_of
from forestcoll.design.search.finder import Frontier, TopologyFinder
from forestcoll.solver.flows.spreading import MOST_NODES


def exchange_frontier(finder: TopologyFinder, nodes: int, degree: int, progress: Progress = SILENT) -> Frontier:
    """Return the networks for which no other one is at least as good in steps, bandwidth time and all-to-all rate.

    A network whose reduce-scatter is worse than its allgather replaces only networks whose reduce-scatter is no better.

    Args:
        finder: which networks are searched.
        nodes: the number of nodes N. Above 2,048 nodes, only the networks of `finder` and of narrower searches are
            compared, by the rate of even splitting over shortest paths.
        degree: the degree d.
        progress: receives the number of candidates that are done.

    Returns:
        The networks by increasing steps; of equal steps, by increasing bandwidth time.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known.

    Example:
        >>> found = exchange_frontier(TopologyFinder(), 32, 4)
        >>> [(each.name, each.cost.steps, str(each.cost.bandwidth_factor)) for each in found.members]
        [('Cayley(4,32)', 3, '31/32'), ('L(K(4,4))', 3, '1')]
    """
    members = _measured(_candidates(finder, nodes, degree), progress)
    return Frontier(nodes, degree, finder.bidirectional, members, with_exchanges=True)


def _candidates(finder: TopologyFinder, nodes: int, degree: int) -> list[Construction]:
    """Return the networks that are compared: those of a finder and of all finders of fewer networks.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known.
    """
    found = [*finder.find(nodes, degree).members]
    if nodes <= MOST_NODES:
        found += _ExchangeFinder(finder).candidates(nodes, degree)
    for narrower in finder.narrower:
        with suppress(NoSolutionError):
            found += _candidates(narrower, nodes, degree)
    return found


class _ExchangeFinder(TopologyFinder):
    """A finder whose frontiers have the bound of the rate of an all-to-all as a third measure."""

    def __init__(self, finder: TopologyFinder) -> None:
        super().__init__(bidirectional=finder.bidirectional, published_only=finder.published_only, bases=finder.bases)
        if self.bidirectional:
            self._one_way = _ExchangeFinder(self._one_way)

    def candidates(self, nodes: int, degree: int) -> tuple[Construction, ...]:
        """Return all networks of a size and degree."""
        return self._candidates(nodes, degree)

    def _frontier(
        self,
        nodes: int,
        degree: int,
        rivals: Sequence[Construction] = (),  # noqa: ARG002 (as the finder calls it)
    ) -> tuple[Construction, ...]:
        key = (nodes, degree)
        if key not in self._frontiers:
            bounds = [(each, each.exchange_bound) for each in self._candidates(nodes, degree)]
            self._frontiers[key] = _undominated(bounds, _reaches)
        return self._frontiers[key]

    def _candidates(
        self,
        nodes: int,
        degree: int,
        rivals: Sequence[Construction] = (),  # noqa: ARG002 (as the finder calls it)
    ) -> tuple[Construction, ...]:
        found = super()._candidates(nodes, degree)
        return tuple(dict.fromkeys((*found, *super()._rescheduled(found))))

    def _kautz(
        self,
        nodes: int,
        degree: int,
        others: Sequence[Construction],  # noqa: ARG002 (as the finder calls it)
        rivals: Sequence[Construction],  # noqa: ARG002 (as the finder calls it)
    ) -> Iterator[Construction]:
        if not self.bidirectional or may_be_bidirectional(nodes, degree):
            graph = kautz(nodes, degree)
            yield from self._allowed([] if graph is None else [graph])

    def _parallel(
        self,
        nodes: int,
        degree: int,
        others: Sequence[Construction],  # noqa: ARG002 (as the finder calls it)
        rivals: Sequence[Construction],  # noqa: ARG002 (as the finder calls it)
    ) -> Iterator[Construction]:
        for copies in primes_of(degree):
            for base in self._frontier(nodes, degree // copies):
                yield Parallel.of(base, copies)


def _measured(candidates: Iterable[Construction], progress: Progress) -> tuple[Construction, ...]:
    """Return the candidates that no other one reaches in steps, bandwidth time and rate, also of a reduce-scatter."""
    ordered = sorted(dict.fromkeys(candidates), key=lambda each: -each.exchange_bound)
    known: list[tuple[Construction, Fraction]] = []
    for place, candidate in enumerate(ordered):
        progress.advance(place, len(ordered))
        if not any(_replaces(other, rate, candidate, candidate.exchange_bound) for other, rate in known):
            known.append((candidate, exchange_rate(candidate).algbw))
    return _undominated(known, _replaces)


def _undominated(
    measured: Sequence[tuple[Construction, Fraction]],
    reaches: Callable[[Construction, Fraction, Construction, Fraction], bool],
) -> tuple[Construction, ...]:
    """Return the networks that no other one reaches, by increasing cost. Of equal ones, the first is kept."""
    kept: list[tuple[Construction, Fraction]] = []
    for each, rate in sorted(measured, key=lambda pair: (pair[0].cost, -pair[1], not pair[0].is_breadth_first)):
        if not any(reaches(other, best, each, rate) for other, best in kept):
            kept.append((each, rate))
    return tuple(each for each, _ in kept)


def _reaches(one: Construction, rate: Fraction, other: Construction, other_rate: Fraction) -> bool:
    """Return whether a network with a rate is at least as good as another one in all three measures."""
    cost, least = one.cost, other.cost
    return cost.steps <= least.steps and cost.bandwidth_factor <= least.bandwidth_factor and rate >= other_rate


def _replaces(one: Construction, rate: Fraction, other: Construction, other_rate: Fraction) -> bool:
    """Return whether a network is at least as good as another one in all collectives.

    The allreduces of networks without a known isomorphism to their transposes have another cost than two allgathers.
    """
    if not _reaches(one, rate, other, other_rate):
        return False
    cost, least = one.reduce_scatter_cost, other.reduce_scatter_cost
    return cost.steps <= least.steps and cost.bandwidth_factor <= least.bandwidth_factor
