"""The two-level forest: each shard crosses to every other box once, over its rail, and spreads inside each box.

A root sends to its peer in every other box, the GPU with the same place in the box. Each peer spreads the data in its
box, and the root spreads it in its own. Both levels work at the same time. A GPU without a NIC uses the NICs of the
other GPUs of its box in equal parts.

Source: the same two levels as the hierarchical algorithms of msccl-tools (`hierarchical_allreduce.py`), HiCCL
(arXiv:2408.05962), and the symmetric kernel RailRing of NCCL 2.30 (`all_gather_gin.cuh`), without barriers.

It is optimal where NICs are the bottleneck and all boxes and NICs are alike. It loses where the links inside a box are
the bottleneck, because every shard crosses the box once per rail, where NICs differ, and in boxes of different sizes.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.crossings import Crossings
from forestcoll.baselines.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.baselines.spreading import Spreading, Weighted
from forestcoll.schedule.trees.value import TreeSchedule


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
    crossings = _Crossings(problem)
    for box in boxes.members:
        for root in box:
            others = (other for other in boxes.members if other is not box)
            parts = [_spread(crossings.between(root, box, other), spreading) for other in others]
            for weight, edges in _together([spreading.trees(root), *parts]):
                yield LogicalTree(root, weight * problem.share, edges)


def _spread(crossings: Sequence[Edge], spreading: Spreading) -> Weighted:
    """Return the trees that cross to a box by `crossings`, in equal parts, and spread in it."""
    return tuple(
        (weight / len(crossings), (crossing, *edges))
        for crossing in crossings
        for weight, edges in spreading.trees(crossing[-1])
    )


class _Crossings:
    """The sends with which data crosses from box to box."""

    def __init__(self, problem: Problem) -> None:
        self._crossings = Crossings(problem)

    def between(self, root: int, box: Sequence[int], other: Sequence[int]) -> list[Edge]:
        """Return the sends over which the data of `root` crosses to `other`, in equal parts."""
        departures, arrivals = self._crossings.departures, self._crossings.arrivals
        exits = [root] if root in departures else [node for node in box if node in departures]
        entries = [node for node in other if node in arrivals]
        if not exits or not entries:
            raise DoesNotApplyError("a box has no link to others")
        pairs = [pair for leaving in exits for pair in self._rail(leaving, box.index(leaving), other, entries)]
        return [self._crossings.edge(*pair) for pair in pairs]

    @staticmethod
    def _rail(leaving: int, place: int, other: Sequence[int], entries: Sequence[int]) -> list[tuple[int, int]]:
        """Return the pair with the peer of `leaving`; if the peer has no NIC, the pairs with all entries."""
        if place < len(other) and other[place] in entries:
            return [(leaving, other[place])]
        return [(leaving, entry) for entry in entries]


def _together(parts: Sequence[Weighted]) -> Iterable[tuple[Fraction, tuple[Edge, ...]]]:
    """Join trees of the root's box with those of other boxes, splitting them where their weights differ."""
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
