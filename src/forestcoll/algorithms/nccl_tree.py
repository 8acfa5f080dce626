"""NCCL's double tree: an allreduce along two binary trees over the boxes, and a chain of GPUs inside each box.

A channel has an order of the GPUs of each box. The first GPU of a box sends to the parent box and is the end of a chain
through the others. Half of the data uses a binary tree over the box numbers, the other half its mirror image, so that
a box with children in one tree is a leaf of the other.

Source: NCCL 2.30, `src/graph/trees.cc` (`ncclGetBtree`, `ncclGetDtree`) and `connect.cc`, pattern BALANCED_TREE. The
bandwidth is an upper limit: NCCL reaches less with its protocols.

Where it loses: with three boxes or more, every NIC sends and receives twice the data that it would have to, so B boxes
reach (B-1)/B of the optimum. With two boxes, or in one box, the chain inside a box is the bottleneck: every GPU sends
nearly all data twice.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.nccl_ring import channels
from forestcoll.demand.collective import Collective
from forestcoll.schedule.trees.value import TreeSchedule

Parents: TypeAlias = tuple[int | None, ...]
"""For each number, its parent in a tree; None for the root."""


@baseline(
    "nccl-tree",
    Family.TREES,
    (Collective.ALLREDUCE,),
    title="NCCL's trees",
    summary="NCCL's double binary tree over boxes, with chains of GPUs inside",
)
def nccl_tree(problem: Problem) -> TreeSchedule:
    """Return the double tree of NCCL for an allreduce.

    Raises:
        DoesNotApplyError: there is only one box, compute nodes have no boxes, or a box has no link to others.
    """
    return schedule_of(problem, lambda each: forest(each, _trees(each)))


def _trees(problem: Problem) -> Iterator[LogicalTree]:
    problem.require_boxes()
    boxes = len(problem.boxes.members)
    if boxes < 2:
        raise DoesNotApplyError("NCCL uses its tree only between boxes, and there is one box")
    crossings = Crossings(problem)
    for channel in channels(problem):
        paths = [passage.order for passage in channel.passages]
        for parents in (binary_tree(boxes), mirrored_tree(boxes)):
            edges: list[Edge] = []
            for box in numbers_downwards(parents):
                edges += (crossings.edge(*each) for each in _from_parent(parents, paths, box))
                edges += pairwise(paths[box])
            yield LogicalTree(paths[parents.index(None)][0], channel.part / 2, tuple(edges))


def _from_parent(parents: Parents, paths: Sequence[Sequence[int]], box: int) -> list[tuple[int, int]]:
    """Return the edge into a box: from the second GPU of the parent for its first child, else from the first."""
    parent = parents[box]
    if parent is None:
        return []
    is_first = len(paths[parent]) > 1 and box == min(each for each, its in enumerate(parents) if its == parent)
    has_two = parents.count(parent) > 1
    return [(paths[parent][1 if is_first and has_two else 0], paths[box][0])]


def binary_tree(size: int) -> Parents:
    """Return the parent of each number from 0 to `size` - 1 in NCCL's binary tree; the root is 0.

    Example:
        >>> binary_tree(4)
        (None, 2, 0, 2)
    """
    parents: list[int | None] = [None]
    for number in range(1, size):
        lowest = number & -number
        up = (number ^ lowest) | (lowest << 1)
        parents.append(up if up < size else number ^ lowest)
    return tuple(parents)


def mirrored_tree(size: int) -> Parents:
    """Return the second tree of the pair: the mirror image for an even size, else the tree shifted by one."""
    image = [size - 1 - number if size % 2 == 0 else (number + 1) % size for number in range(size)]
    parents: list[int | None] = [None] * size
    for number, parent in enumerate(binary_tree(size)):
        parents[image[number]] = None if parent is None else image[parent]
    return tuple(parents)


def numbers_downwards(parents: Parents) -> list[int]:
    """Return the numbers of a tree, each after its parent."""
    order = [parents.index(None)]
    for number in order:
        order.extend(child for child, parent in enumerate(parents) if parent == number)
    return order
