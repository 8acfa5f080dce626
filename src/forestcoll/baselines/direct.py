"""Direct sends: every compute node sends its shard to each of the others, all at the same time.

Source: the one-shot algorithms of many libraries, such as those of NCCL's symmetric kernels. The latency is the lowest
that is possible: one send.

Where it loses: a shard enters each box once for each GPU of the box, although once would do.
"""

from collections.abc import Iterator

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.crossings import Crossings
from forestcoll.baselines.forests import LogicalTree, forest, schedule_of
from forestcoll.schedule.trees.value import TreeSchedule

MOST_NODES = 512
"""The most compute nodes: the number of sends grows with their square."""


def direct(problem: Problem) -> TreeSchedule:
    """Return the direct sends of a problem.

    Raises:
        DoesNotApplyError: two compute nodes have no route through switches, or there are too many of them.
    """
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"more than {MOST_NODES} compute nodes would need too many sends")
    return schedule_of(problem, lambda each: forest(each, _trees(each)))


def _trees(problem: Problem) -> Iterator[LogicalTree]:
    crossings = Crossings(problem)
    for root in problem.members:
        others = (other for other in problem.members if other != root)
        yield LogicalTree(root, problem.share, tuple(crossings.edge(root, other) for other in others))
