"""Algorithms that search with HiGHS, or that give each send a time: pairs that send, results, and what notes say."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from forestcoll.algorithms.baseline import BaselineResult
from forestcoll.algorithms.method import Problem
from forestcoll.base.exact import as_float
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.graph.routes import Path

HALF = 0.5
"""A binary column above this value is 1."""


class NotFoundError(Exception):
    """A program is too large, or HiGHS found no solution in its limit."""


def routes_of_pairs(problem: Problem) -> dict[tuple[int, int], Path]:
    """Return the route of each pair of compute nodes that take part, if it has one through switches."""
    routes = {pair: problem.routes.find(*pair) for pair in permutations(problem.members, 2)}
    return {pair: route for pair, route in routes.items() if route is not None}


def timed_result(problem: Problem, schedule: TreeSchedule, times: Sequence[Fraction], note: str) -> BaselineResult:
    """Return the result with the algbw by these times.

    Args:
        problem: the problem.
        schedule: the trees that the chunks follow.
        times: the time of each allgather that was made, for one unit of M; a single one counts for all phases.
        note: how the schedule was found, as the first part of a sentence.
    """
    algbw = 1 / sum(list(times) * (len(schedule.phases) // len(times)), Fraction(0))
    pipelined = schedule.algbw or algbw
    unit = problem.topology.bandwidth_unit
    more = f"; the loads of its trees would allow {as_float(pipelined):.6g} {unit}" if pipelined > algbw else ""
    return BaselineResult(schedule, algbw, note + more)


def quality(gap: Fraction, searched: int, chunks: int) -> str:
    """Return how good a solution of HiGHS is, as the beginning of a sentence.

    Args:
        gap: the part by which the objective of a solution may be less; 0 if it is an optimum.
        searched: the most nodes of the search tree.
        chunks: the number of chunks of each compute node.

    Example:
        >>> quality(Fraction(1, 8), searched=20, chunks=1)
        'HiGHS stopped at node 20 of its search tree with a gap of 12.5% for 1 chunk of each node'
    """
    stopped = f"HiGHS stopped at node {searched} of its search tree with a gap of {as_float(100 * gap):.3g}%"
    return f"{stopped if gap else 'HiGHS reports an optimum'} for {chunks} chunk{'s' * (chunks > 1)} of each node"
