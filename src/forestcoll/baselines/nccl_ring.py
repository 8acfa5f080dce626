"""NCCL's rings: one ring for each NIC, through all GPUs of a box, then over the NIC to the next box.

A ring enters each box at the GPU of a NIC and leaves it at another GPU of the same NIC, or at the GPU of the next NIC
if each GPU has its own: so every NIC is entered once and left once. Inside a box, a switch allows any order. On direct
links, orders are chosen so that rings share the links as evenly as possible. All rings carry equal parts.

Source: NCCL 2.30, `src/graph/search.cc`, `connect.cc` and `rings.cc`. This is the strongest form of the algorithm: NCCL
may find fewer rings, and its protocols do not reach the full bandwidth.

Where it loses: a ring takes (N-1)/N of the data into every box, although (B-1)/B would do for B boxes. For two boxes of
8 GPUs, this is a factor of 15/8; for 16 boxes, 1.058.
"""

from collections.abc import Mapping, Sequence

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.forests import around, rings, schedule_of
from forestcoll.baselines.ring_orders import Order, closed_orders, open_orders
from forestcoll.schedule.trees.value import TreeSchedule

Ends = tuple[int, int]
"""The node at which a ring enters a box, and the node at which it leaves the box."""


def nccl_ring(problem: Problem) -> TreeSchedule:
    """Return the rings of NCCL for a problem.

    Raises:
        DoesNotApplyError: compute nodes have no boxes, a box has no link to others, or no ring through a box exists.
    """
    if not problem.boxes.is_complete:
        raise DoesNotApplyError("some compute nodes are in no box; NCCL's rings need the attribute 'box'")
    return schedule_of(problem, lambda each: rings(each, [around(order) for order in _rings(each)]))


def _rings(problem: Problem) -> list[list[int]]:
    boxes = problem.boxes.members
    if len(boxes) == 1:
        return [list(order) for order in closed_orders(problem, boxes[0])]
    return [[node for path in paths for node in path] for paths in channel_paths(problem)]


def channel_paths(problem: Problem) -> list[list[Order]]:
    """Return the channels between boxes: for each channel, its path through each box, from the NIC where it enters.

    Raises:
        DoesNotApplyError: as `nccl_ring`.
    """
    ends = [_ends(problem, box) for box in problem.boxes.members]
    channels = min(map(len, ends))
    if not channels:
        raise DoesNotApplyError("a box has no link to others")
    by_box = [open_orders(problem, box, each[:channels]) for box, each in zip(problem.boxes.members, ends, strict=True)]
    return [[paths[channel] for paths in by_box] for channel in range(channels)]


def _ends(problem: Problem, box: Sequence[int]) -> list[Ends]:
    """Return where the ring of each NIC of a box enters and leaves the box."""
    backwards = problem.transposed().boxes
    by_door: dict[Ends, list[int]] = {}
    for node in box:
        door = problem.boxes.door(node)
        if door is not None and backwards.door(node) is not None:
            by_door.setdefault(door, []).append(node)
    first = [nodes[0] for nodes in by_door.values()]
    following: Mapping[int, int] = dict(zip(first, (*first[1:], *first[:1]), strict=True))
    return [(nodes[0], nodes[1] if len(nodes) > 1 else following[nodes[0]]) for nodes in by_door.values()]
