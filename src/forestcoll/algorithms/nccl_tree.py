"""NCCL's double tree: an allreduce along two binary trees over the boxes, and a chain of GPUs inside each box.

A channel has an order of the GPUs of each box. The first GPU of a box sends to the parent box and is the end of a chain
through the others. Half of the data uses a binary tree over the box numbers, the other half its mirror image, so that
a box with children in one tree is a leaf of the other. The child box below its parent in the numbers of the tree sends
to the second GPU of the parent box, the child box above it to the first GPU (pattern BALANCED_TREE).

If a GPU has several NICs of its own, the channels that begin at it use them in turn.

On switches the chain of a box goes upwards from the GPU of the NIC, while the ring of `nccl_ring` goes downwards.

Source: NCCL 2.30, `src/graph/trees.cc` (`ncclGetBtree`, `ncclGetDtree`), `connect.cc` and `search.cc`
(`ncclTopoSearchNextGpuSort`); the edges are those that NCCL 2.28 to 2.32 print. The bandwidth is an upper limit: NCCL
reaches less with its protocols.

Where it loses: with three boxes or more, every NIC sends and receives twice the data that it would have to, so B boxes
reach (B-1)/B of the optimum. With two boxes, or in one box, the chain inside a box is the bottleneck: every GPU sends
nearly all data twice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.nccl_ring import channels
from forestcoll.algorithms.ring_orders import crosses_switches
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
    by_size=False,
)
def nccl_tree(problem: Problem) -> TreeSchedule:
    """Return the double tree of NCCL for an allreduce.

    Raises:
        DoesNotApplyError: there is only one box, compute nodes have no boxes, or a box has no link to others.
    """
    return schedule_of(problem, lambda each: forest(each, _trees(each)))


def _trees(problem: Problem) -> Iterator[LogicalTree]:
    problem.require_boxes()
    if len(problem.boxes.members) < 2:
        raise DoesNotApplyError("NCCL uses its tree only between boxes, and there is one box")
    crossings = Crossings(problem)
    on_switches = {box: crosses_switches(problem, box) for box in problem.boxes.members}
    seen: Counter[int] = Counter()
    for channel in channels(problem):
        first = channel.passages[0].order[0]
        turn, seen[first] = seen[first], seen[first] + 1
        passing = zip(on_switches.items(), channel.passages, strict=True)
        chains = [_upwards(box, each.order[0]) if switched else each.order for (box, switched), each in passing]
        for tree in box_trees(len(chains)):
            edges: list[Edge] = []
            for box in numbers_downwards(tree.parents):
                parent = tree.parents[box]
                if parent is not None:
                    place = 1 if tree.is_first_child[box] and len(chains[parent]) > 1 else 0
                    edges.append(crossings.edge(chains[parent][place], chains[box][0], turn))
                edges += pairwise(chains[box])
            yield LogicalTree(chains[tree.parents.index(None)][0], channel.part / 2, tuple(edges))


def _upwards(box: Sequence[int], first: int) -> tuple[int, ...]:
    """Return the members of a box in cyclic order from `first`."""
    place = box.index(first)
    return (*box[place:], *box[:place])


@dataclass(frozen=True)
class BoxTree:
    """A binary tree over boxes.

    Attributes:
        parents: the parent of each box.
        is_first_child: whether a box is the first child of its parent: below it in the numbers of the tree.
    """

    parents: Parents
    is_first_child: tuple[bool, ...]


def box_trees(size: int) -> tuple[BoxTree, BoxTree]:
    """Return NCCL's two trees over `size` boxes.

    Example:
        >>> box_trees(3)[1]
        BoxTree(parents=(1, None, 0), is_first_child=(False, False, True))
    """
    one, other = binary_tree(size), mirrored_tree(size)
    first = tuple(parent is not None and number < parent for number, parent in enumerate(one))
    numbers = [size - 1 - box if size % 2 == 0 else (box - 1) % size for box in range(size)]
    return BoxTree(one, first), BoxTree(other, tuple(first[number] for number in numbers))


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
