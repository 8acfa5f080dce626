"""Direct sends: every compute node sends its shard to each of the others, all at the same time.

Source: the one-shot algorithms of many libraries, such as those of NCCL's symmetric kernels. The latency is the lowest
that is possible: one send.

If two compute nodes have no path through switches, data passes through compute nodes, and the sends are one step. In
an all-to-all, these are the sends of every library without a better algorithm, such as those of NCCL without PXN; they
carry data of their own, and nodes on the way relay it.

Where it loses: a shard enters each box once for each GPU of the box, although once would do.
"""

from collections.abc import Iterator

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.pairs import flow_schedule, require_few
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.schedule import Schedule


@baseline(
    "direct",
    Family.TREES,
    COMPARED,
    title="direct sends",
    summary="Each compute node sends its shard, or a block of its own, to each other one",
)
def direct(problem: Problem) -> Schedule:
    """Return the direct sends of a problem.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or routes are too long.
    """
    require_few(problem)
    members = problem.members
    if problem.collective is Collective.ALL_TO_ALL:
        edge = Crossings(problem).edge
        return flow_schedule(problem, lambda source, target: [edge(source, target)])
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
