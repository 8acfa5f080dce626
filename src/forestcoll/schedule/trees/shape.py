"""The heights of the trees of a schedule, which determine the time of small messages.

The *height* of a tree is the number of edges from the root to the deepest node; an edge is one send between compute
nodes. Its *hops* are the number of links on that path, with those at switches. Means weight each tree by its share. A
tree that reduces is as high as its reverse.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.trees.value import Phase, TreeSchedule

BLOCK_CELLS = 2**20
"""The most depths of nodes that are kept at one time, unless one tree alone has more."""


@dataclass(frozen=True, slots=True)
class TreeShape(Shape):
    """Tree counts and heights of a schedule.

    Attributes:
        trees: the number of trees of all phases, with all images of base trees.
        greatest_height: the most sends from a root to its deepest node, over all trees.
        mean_height: the mean height of the trees, weighted by their shares.
        greatest_hops: the most links from a root to its deepest node, over all trees.
        mean_hops: the mean hops of the trees, weighted by their shares.
        group_order: the number of images of each base tree; 1 without a symmetry.
        phases: the number of phases, which follow each other.

    Example:
        >>> from forestcoll import generate, shape_of
        >>> shape = shape_of(generate("ring:nodes=4"))
        >>> shape.trees, shape.greatest_height, shape.phases
        (8, 2, 1)
    """

    trees: int
    greatest_height: int
    mean_height: float
    greatest_hops: int
    mean_hops: float
    group_order: int = 1
    phases: int = 1

    @property
    def hops(self) -> int:
        """The greatest hops of a tree times the number of phases; see `Shape.hops`."""
        return self.phases * self.greatest_hops

    @property
    def base_trees(self) -> int:
        """The number of trees that the phases list."""
        return self.trees // self.group_order


def tree_shape(schedule: TreeSchedule) -> TreeShape:
    """Return the shape of `schedule`; its trees must list each route after the routes that feed it.

    The images of a base tree have its height and its share.
    """
    ends = _Ends.of(schedule)
    depths = [
        _depths(block.backwards(), ends.swapped()) if phase.op is PhaseOp.REDUCE else _depths(block, ends)
        for phase in schedule.phases
        for block in _blocks(phase, ends.nodes)
    ]
    heights, hops = np.concatenate(depths, axis=1) if depths else np.zeros((2, 0), dtype=np.int32)
    shares = [share for phase in schedule.phases for share in phase.shares]
    group_order = 1 if schedule.symmetry is None else schedule.symmetry.order
    return TreeShape(
        trees=len(shares) * group_order,
        greatest_height=int(heights.max(initial=0)),
        mean_height=_mean(heights, shares),
        greatest_hops=int(hops.max(initial=0)),
        mean_hops=_mean(hops, shares),
        group_order=group_order,
        phases=len(schedule.phases),
    )


@dataclass(frozen=True, slots=True)
class _Ends:
    """For each route of a schedule, its first node, its last node, and its number of links."""

    firsts: IntArray
    lasts: IntArray
    lengths: IntArray
    nodes: int

    @staticmethod
    def of(schedule: TreeSchedule) -> "_Ends":
        starts, entries = schedule.routes.starts, schedule.routes.entries
        lengths = starts[1:] - starts[:-1] - 1
        return _Ends(entries[starts[:-1]], entries[starts[1:] - 1], lengths, len(schedule.topology.nodes))

    def swapped(self) -> "_Ends":
        return _Ends(self.lasts, self.firsts, self.lengths, self.nodes)


def _blocks(phase: Phase, nodes: int) -> Iterator[Rows]:
    """Yield the lists of routes of the trees of `phase`, in blocks of trees."""
    count = max(1, BLOCK_CELLS // (nodes + 1))
    for begin in range(0, len(phase), count):
        starts = phase.routes.starts[begin : begin + count + 1]
        yield Rows(starts - starts[0], phase.routes.entries[starts[0] : starts[-1]])


def _depths(trees: Rows, ends: _Ends) -> IntArray:
    """Return the height and the hops of each tree; all trees advance together, one position at a time.

    A tree has a cell for each node, and one more cell, which is source and target of positions beyond its end.
    """
    sizes = np.diff(trees.starts)
    positions = np.arange(len(trees.entries)) - np.repeat(trees.starts[:-1], sizes)
    bases = np.arange(len(trees)) * (ends.nodes + 1)
    places = positions, np.repeat(np.arange(len(trees)), sizes)
    sources = np.tile(bases + ends.nodes, (int(sizes.max()), 1))
    targets, lengths = sources.copy(), np.zeros(sources.shape, dtype=np.int32)
    sources[places] = np.repeat(bases, sizes) + ends.firsts[trees.entries]
    targets[places] = np.repeat(bases, sizes) + ends.lasts[trees.entries]
    lengths[places] = ends.lengths[trees.entries]
    heights, hops = np.zeros((2, len(trees) * (ends.nodes + 1)), dtype=np.int32)
    for source, target, length in zip(sources, targets, lengths, strict=True):
        heights[target] = heights[source] + 1
        hops[target] = hops[source] + length
    deepest: IntArray = np.stack([heights, hops]).reshape(2, len(trees), -1)[:, :, :-1].max(axis=2)
    return deepest


def _mean(values: IntArray, shares: list[Fraction]) -> float:
    total = sum(shares, Fraction(0))
    weighted = sum((int(value) * share for value, share in zip(values, shares, strict=True)), Fraction(0))
    return float(weighted / total) if total else 0.0
