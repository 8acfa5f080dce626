"""The two-level forest: each shard crosses to every other box once, over its rail, and spreads inside each box.

A root sends to its peer in every other box, the GPU with the same place in the box. Each peer spreads the data in its
box, and the root spreads it in its own. Both levels work at the same time. All NICs of a box carry equal parts, so a
GPU without a NIC uses those of the other GPUs.

Source: the same two levels as the hierarchical algorithms of msccl-tools (`hierarchical_allreduce.py`), HiCCL
(arXiv:2408.05962), and the symmetric kernel RailRing of NCCL 2.30 (`all_gather_gin.cuh`), without barriers.

In an all-to-all, a block leaves over the rail of its target: the source passes it to the GPU of its own box that has
the place of the target, which sends it. This is PXN of NCCL (since 2.12), and the order of sends of hierarchical
all-to-alls such as Tutel's (arXiv:2206.03382, 2DH), without barriers.

It is optimal where NICs are the bottleneck and all boxes and NICs are alike. It loses where the links inside a box are
the bottleneck, because every shard crosses the box once per rail, where NICs differ, and in boxes of different sizes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.pairs import flow_schedule
from forestcoll.algorithms.spreading import Spreading, Weighted
from forestcoll.algorithms.striping import Crossing, Plans
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology.graph.routes import Routes


@baseline(
    "two-level",
    Family.TREES,
    COMPARED,
    title="the two-level algorithm",
    summary="Each shard crosses to each box once, over its rail, and then spreads inside",
)
def two_level(problem: Problem) -> Schedule:
    """Return the two-level forest of a problem, or the flows over rails of an all-to-all.

    Raises:
        DoesNotApplyError: compute nodes have no boxes, a box has no link to others, or data cannot spread inside it.
    """
    if problem.collective is Collective.ALL_TO_ALL:
        return _all_to_all(problem)
    return schedule_of(problem, lambda each: forest(each, _trees(each)))


def _all_to_all(problem: Problem) -> FlowSchedule:
    problem.require_boxes()
    boxes, crossings = problem.boxes, Crossings(problem)
    if len(boxes.members) == 1:
        raise DoesNotApplyError("there is one box, and blocks have no rail to cross")
    box_of = {member: box for box in boxes.members for member in box}
    inside = {box: Routes(problem.topology, boxes.inside(box[0])) for box in boxes.members}

    def send(source: int, target: int) -> Edge:
        if box_of[source] is not box_of[target]:
            return crossings.edge(source, target)
        try:
            return inside[box_of[source]].find_any(source, target)
        except KeyError:
            raise DoesNotApplyError("the nodes of a box cannot exchange data inside it") from None

    def sends(source: int, target: int) -> list[Edge]:
        here, there = box_of[source], box_of[target]
        if here is there:
            return [send(source, target)]
        entry = _nearest(target, there, crossings.arrivals)
        sender = _nearest(here[there.index(entry) % len(here)], here, crossings.departures)
        return [send(*pair) for pair in pairwise((source, sender, entry, target)) if pair[0] != pair[1]]

    return flow_schedule(problem, sends)


def _nearest(member: int, box: Sequence[int], with_nic: Collection[int]) -> int:
    """Return a member of a box with a NIC: `member` itself if it has one, else one that stands in for it in turn."""
    if member in with_nic:
        return member
    able = [each for each in box if each in with_nic]
    if not able:
        raise DoesNotApplyError("a box has no link to others")
    return able[box.index(member) % len(able)]


def _trees(problem: Problem) -> Iterator[LogicalTree]:
    boxes = problem.boxes
    problem.require_boxes()
    spreading = Spreading(problem)
    if len(boxes.members) == 1 and not spreading.is_direct(boxes.members[0]):
        raise DoesNotApplyError("there is one box, and direct sends are not the best way to spread data in it")
    plans = Plans(problem)
    for box in boxes.members:
        crossings = [plans.of(box, other) for other in boxes.members if other is not box]
        for root in box:
            parts = [_spread(each[root], spreading) for each in crossings]
            for weight, edges in _together([spreading.trees(root), *parts]):
                yield LogicalTree(root, weight * problem.share, edges)


def _spread(crossings: Sequence[Crossing], spreading: Spreading) -> Weighted:
    """Return the trees that cross to a box by `crossings` and spread in it."""
    return tuple(
        (part * weight, (crossing, *edges))
        for part, crossing in crossings
        for weight, edges in spreading.trees(crossing[-1])
    )


def _together(parts: Sequence[Weighted]) -> Iterable[tuple[Fraction, tuple[Edge, ...]]]:
    """Join trees of the root's box with those of other boxes, splitting them where their weights differ."""
    weights = [weight for weight, _ in parts[0]]
    if all([weight for weight, _ in part] == weights for part in parts[1:]):
        for number, weight in enumerate(weights):
            yield weight, tuple(edge for part in parts for edge in part[number][1])
        return
    places = [0] * len(parts)
    left = [part[0][0] for part in parts]
    while places[0] < len(parts[0]):
        weight = min(left)
        yield weight, tuple(edge for part, place in zip(parts, places, strict=True) for edge in part[place][1])
        for number, part in enumerate(parts):
            left[number] -= weight
            if not left[number]:
                places[number] += 1
                if places[number] < len(part):
                    left[number] = part[places[number]][0]
