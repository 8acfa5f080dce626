"""Results of algorithms that search with HiGHS, or that give each send a time: what their notes say."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.algorithms.baseline import BaselineResult
from forestcoll.algorithms.method import Problem
from forestcoll.base.exact import as_float
from forestcoll.schedule.trees.value import TreeSchedule


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


def quality(gap: Fraction, searched: int) -> str:
    """Return how good a solution of HiGHS is, as the begin of a sentence.

    Args:
        gap: how much less the objective of a solution may be; 0 if it is an optimum.
        searched: the most nodes of the search tree.

    Example:
        >>> quality(Fraction(1, 8), 20)
        'HiGHS stopped after 20 nodes of its search tree with a gap of 12.5%'
    """
    if not gap:
        return "HiGHS reports an optimum"
    return f"HiGHS stopped after {searched} nodes of its search tree with a gap of {as_float(100 * gap):.3g}%"
