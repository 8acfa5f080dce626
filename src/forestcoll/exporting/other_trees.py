"""A schedule with another number of trees per root, for a program that would be slow with the trees of a schedule.

The shares of many trees may be no multiples of a chunk, and a rank may have more trees than thread blocks. Two trees
per root lose less then: on two MI250 boxes, they reach 96.4 % of the optimum with 64 chunks exactly. A broadcast or a
reduce has few trees. With four times as many, ranks of high trees wait less.
"""

from forestcoll.errors import InputError, NoSolutionError
from forestcoll.progress import SILENT
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.generate import schedule_of
from forestcoll.solver.problem import Problem
from forestcoll.verification import certified, verify

FEW = 2
"""The number of trees per root that is tried if the schedule has more."""

TIMES = 4
"""How many times as many trees are tried if there is one root."""

MOST_RANKS = 64
"""The most ranks for which other trees are tried; programs of more ranks take long to search."""


def with_other_trees(schedule: Schedule) -> TreeSchedule | None:
    """Return a schedule of the same demand with another number of trees per root, verified, or None.

    There is none for a schedule that does not state its number of trees, because forestcoll did not make it, and none
    for a broadcast or an allreduce with other sources or targets than usual.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> other = with_other_trees(generate("mi250:boxes=2"))
        >>> other.trees_per_root, str(other.algbw)
        (2, '1024/3')
    """
    if not isinstance(schedule, TreeSchedule) or schedule.trees_per_root is None or schedule.sources is not None:
        return None
    if len(schedule.members) > MOST_RANKS:
        return None
    trees = TIMES * schedule.trees_per_root if schedule.collective.has_root else min(FEW, schedule.trees_per_root)
    if trees == schedule.trees_per_root:
        return None
    try:
        other = schedule_of(Problem.of(schedule.topology, schedule.demand, SILENT).solve(trees))
    except (InputError, NoSolutionError):
        return None  # so many trees are not possible
    certified(verify(other))
    return other
