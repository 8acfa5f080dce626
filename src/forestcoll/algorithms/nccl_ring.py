"""NCCL's rings: one ring for each NIC, through all GPUs of a box, then over the NIC to the next box.

A ring enters each box at the GPU of a NIC and leaves it at another GPU of the same NIC, or at the GPU of the next NIC
if each GPU has its own: so every NIC is entered once and left once. Inside a box, a switch allows any order. On direct
links, rings are chosen so that they share the links as well as possible. Rings over slower NICs carry less.

Source: NCCL 2.30, `src/graph/search.cc`, `connect.cc` and `rings.cc`. This is the strongest form of the algorithm: NCCL
may find fewer rings, and its protocols do not reach the full bandwidth.

Where it loses: `solver/bounds/rings.py` states the bound of all rings, and why other schedules are faster.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Ring, around, rings, schedule_of
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.ring_orders import Passage, closed_orders, passages
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True, slots=True)
class RingChannel:
    """A part of the data that goes through all boxes.

    Attributes:
        part: the part of the data.
        passages: for each box, its passage through the box.
    """

    part: Fraction
    passages: tuple[Passage, ...]


@baseline(
    "nccl-ring",
    Family.TREES,
    UNROOTED,
    title="NCCL's rings",
    summary="The default of NVIDIA's library: data passes from GPU to GPU along one ring for each NIC",
    by_size=False,
)
def nccl_ring(problem: Problem) -> TreeSchedule:
    """Return the rings of NCCL for a problem.

    Raises:
        DoesNotApplyError: compute nodes have no boxes, a box has no link to others, or no ring through a box exists.
    """
    problem.require_boxes()
    return schedule_of(problem, lambda each: rings(each, _rings(each)))


def _rings(problem: Problem) -> list[Ring]:
    boxes = problem.boxes.members
    if len(boxes) == 1:
        return [(part, around(order)) for part, order in closed_orders(problem, boxes[0])]
    return [ring_of(problem, channel) for channel in channels(problem)]


def ring_of(problem: Problem, channel: RingChannel) -> Ring:
    """Return the ring of a channel: through each box, then over a NIC to the next."""
    crossings, sends = Crossings(problem), []
    for place, passage in enumerate(channel.passages):
        following = channel.passages[(place + 1) % len(channel.passages)]
        sends += [*pairwise(passage.order), crossings.join(passage.departure, following.arrival)]
    return channel.part, sends


def channels(problem: Problem) -> list[RingChannel]:
    """Return the channels between boxes.

    Raises:
        DoesNotApplyError: as `nccl_ring`.
    """
    by_box = [passages(problem, box) for box in problem.boxes.members]
    if len(by_box) % 2 == 0:
        by_box = [_swapped(each) if place % 2 else each for place, each in enumerate(by_box)]
    return list(_joined(by_box))


def _swapped(passages: list[Passage]) -> list[Passage]:
    """Exchange passages that go in opposite directions between the same two NICs.

    In every second box, a ring then enters by the NIC by which it left the box before, so it stays on one rail.
    """
    places = {(each.order[0], each.order[-1], each.part): place for place, each in enumerate(passages)}
    opposite = [places.get((each.order[-1], each.order[0], each.part)) for each in passages]
    if len(places) < len(passages) or None in opposite:
        return passages
    return [passages[place] for place in opposite if place is not None]


def _joined(by_box: Sequence[Sequence[Passage]]) -> Iterator[RingChannel]:
    """Join the passages of all boxes in their order, and split them where their parts differ."""
    places = [0] * len(by_box)
    left = [each[0].part for each in by_box]
    while places[0] < len(by_box[0]):
        part = min(left)
        yield RingChannel(part, tuple(each[place] for each, place in zip(by_box, places, strict=True)))
        for box, each in enumerate(by_box):
            left[box] -= part
            if not left[box]:
                places[box] += 1
                left[box] = each[places[box]].part if places[box] < len(each) else Fraction(0)
