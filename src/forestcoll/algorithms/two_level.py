"""The two-level forest: each shard crosses to every other box once, over its rail, and spreads inside each box.

A root sends to its peer in every other box, the GPU with the same place in the box. Each peer spreads the data in its
box, and the root spreads it in its own. Both levels work at the same time. All NICs of a box carry equal parts, so a
GPU without a NIC uses those of the other GPUs.

Source: the same two levels as the hierarchical algorithms of msccl-tools (`hierarchical_allreduce.py`), HiCCL
(arXiv:2408.05962), and the symmetric kernel RailRing of NCCL 2.30 (`all_gather_gin.cuh`), without barriers.

It is optimal where NICs are the bottleneck and all boxes and NICs are alike. It loses where the links inside a box are
the bottleneck, because every shard crosses the box once per rail, where NICs differ, and in boxes of different sizes.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.spreading import Spreading, Weighted
from forestcoll.algorithms.striping import Crossing, Plans
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.trees.value import TreeSchedule


@baseline(
    "two-level",
    Family.TREES,
    UNROOTED,
    title="the two-level algorithm",
    summary="Each shard crosses to each box once, over its rail, and then spreads inside",
)
def two_level(problem: Problem) -> TreeSchedule:
    """Return the two-level forest of a problem.

    Raises:
        DoesNotApplyError: compute nodes have no boxes, a box has no link to others, or data cannot spread inside it.
    """
    return schedule_of(problem, lambda each: forest(each, _trees(each)))


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
