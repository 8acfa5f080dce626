"""The search for networks with three measures: the steps T_L, the bandwidth time T_B and the rate of an all-to-all.

A rate takes a linear program, but its bound by the distances only a count (`Construction.exchange_bound`). For each
intermediate size the networks are kept that no other one reaches in steps, T_B and this bound. All networks of the size
that is asked for are candidates, by decreasing bound. The rate of a candidate is computed only if no network with a
known rate has as few steps, as little T_B, and a rate that reaches the bound of the candidate. So no candidate is lost.

Pruning by the bound could lose a base of a better network. The networks that narrower searches find (those without
Cayley graphs, of bidirectional networks only, or without the networks of the user) are candidates too, so that a search
with more networks never has a worse answer.
"""

from collections.abc import Iterable
from contextlib import suppress

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.search.finder import Frontier, Measure, TopologyFinder, Values, pareto, reaches, values_of
from forestcoll.solver.flows.spreading import MOST_NODES

_SCATTER: tuple[Measure, ...] = (
    lambda each: each.reduce_scatter_cost.steps,
    lambda each: each.reduce_scatter_cost.bandwidth_factor,
)
"""The cost of a reduce-scatter, which is another one than that of the allgather if no mirror is known."""

_LEAST: tuple[Measure, ...] = (lambda each: -each.exchange_bound, *_SCATTER)
_MEASURES: tuple[Measure, ...] = (lambda each: -exchange_rate(each).algbw, *_SCATTER)


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
    members = _measured(all_networks(finder, nodes, degree), progress)
    return Frontier(nodes, degree, finder.bidirectional, members, with_exchanges=True)


def all_networks(finder: TopologyFinder, nodes: int, degree: int) -> list[Construction]:
    """Return the networks that are compared: those of a finder and of all finders of fewer networks.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known.
    """
    found = [*finder.find(nodes, degree).members]
    if nodes <= MOST_NODES:
        found += finder.like(measures=_LEAST[:1]).listed(nodes, degree)
    for narrower in finder.narrower:
        with suppress(NoSolutionError):
            found += all_networks(narrower, nodes, degree)
    return list(dict.fromkeys(found))


def _measured(candidates: Iterable[Construction], progress: Progress) -> tuple[Construction, ...]:
    """Return the candidates that no other one reaches in steps, bandwidth time and rate, also of a reduce-scatter."""
    ordered = sorted(candidates, key=lambda each: -each.exchange_bound)
    known: list[tuple[Values, Construction]] = []
    for place, candidate in enumerate(ordered):
        progress.advance(place, len(ordered))
        least = values_of(candidate, _LEAST)
        if not any(reaches(values, least) for values, _ in known):
            known.append((values_of(candidate, _MEASURES), candidate))
    return pareto((candidate for _, candidate in known), _MEASURES)
