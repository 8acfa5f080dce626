"""From the sends of each pair of compute nodes to a schedule of flows, with its exact algbw.

An algorithm for an all-to-all names, for each pair, the nodes that its block passes; each of them sends the block on.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads_of import link_loads
from forestcoll.solver.generation.flows import flow_table

MOST_NODES = 512
"""The most compute nodes: the number of flows grows with their square."""


def flow_schedule(problem: Problem, sends: Callable[[int, int], Sequence[Edge]]) -> FlowSchedule:
    """Return the schedule of an all-to-all with one flow for each pair.

    Args:
        problem: the problem.
        sends: returns the sends from a source to a target, one after the other.

    Raises:
        DoesNotApplyError: there are too many compute nodes; or from `sends`.
    """
    require_few(problem)
    paths = ((_path(problem, sends(*pair)), problem.share) for pair in permutations(problem.members, 2))
    routes, flows = flow_table(problem.topology, paths)
    ranks = problem.demand.ranks
    made = FlowSchedule(problem.topology, problem.collective, routes, flows, algbw=Fraction(1), ranks=ranks)
    return replace(made, algbw=link_loads(made).algbw(problem.topology))


def require_few(problem: Problem) -> None:
    """Raise `DoesNotApplyError` if there are more than `MOST_NODES` compute nodes."""
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"more than {MOST_NODES} compute nodes would need too many sends")


def _path(problem: Problem, edges: Sequence[Edge]) -> Edge:
    """Return the nodes of sends that follow each other; a send that names only its ends has the usual route."""
    path = [edges[0][0]]
    for edge in edges:
        path += (problem.routes.find_any(*edge) if len(edge) == 2 else edge)[1:]
    return tuple(path)
