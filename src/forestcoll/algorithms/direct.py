"""Direct sends: every compute node sends its shard to each of the others, all at the same time.

Source: the one-shot algorithms of many libraries, such as those of NCCL's symmetric kernels. The latency is the lowest
that is possible: one send.

If two compute nodes have no path through switches, data passes through compute nodes, and the sends are one step.

Where it loses: a shard enters each box once for each GPU of the box, although once would do.
"""

from collections.abc import Iterator

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.schedule import Schedule

MOST_NODES = 512
"""The most compute nodes: the number of sends grows with their square."""


@baseline(
    "direct",
    Family.TREES,
    UNROOTED,
    title="direct sends",
    summary="Each compute node sends its shard to each other one",
)
def direct(problem: Problem) -> Schedule:
    """Return the direct sends of a problem.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or routes are too long.
    """
    members = problem.members
    if len(members) > MOST_NODES:
        raise DoesNotApplyError(f"more than {MOST_NODES} compute nodes would need too many sends")
    if all(problem.routes.find(one, other) for one in members for other in members if one != other):
        return schedule_of(problem, lambda each: forest(each, _trees(each)))
    return step_schedule(problem, lambda each: [_sends(len(each.members))])


def _sends(count: int) -> Iterator[ShardSend]:
    return (ShardSend(rank, other, [rank]) for rank in range(count) for other in range(count) if rank != other)


def _trees(problem: Problem) -> Iterator[LogicalTree]:
    crossings = Crossings(problem)
    for root in problem.members:
        others = (other for other in problem.members if other != root)
        yield LogicalTree(root, problem.share, tuple(crossings.edge(root, other) for other in others))
