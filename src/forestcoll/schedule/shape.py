"""How tall the trees of a schedule are: height is what a small message waits for.

A tree's *height* counts its edges (one send between compute nodes each) from the root to the deepest node; its
*hops* count the links on the way, switches included. Means weigh each tree by its share.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.model import IntArray, Phase, Schedule


@dataclass(frozen=True, slots=True)
class Shape:
    """Tree counts and heights of a schedule.

    Attributes:
        trees: how many trees its phases list.
        greatest_height: sends from root to the deepest node, over all trees.
        mean_height: the trees' heights, weighted by their shares.
        greatest_hops: links from root to the deepest node, over all trees.
        mean_hops: the trees' hops, weighted by their shares.
    """

    trees: int
    greatest_height: int
    mean_height: float
    greatest_hops: int
    mean_hops: float


def shape_of(schedule: Schedule) -> Shape:
    """Return the shape of `schedule`, whose trees must list each route after the one that feeds it."""
    lengths = np.diff(schedule.routes.starts) - 1
    firsts = schedule.routes.entries[schedule.routes.starts[:-1]]
    lasts = schedule.routes.entries[schedule.routes.starts[1:] - 1]
    nodes = len(schedule.topology.nodes)
    ones = np.ones_like(lengths)
    heights = np.concatenate([_depths(phase, ones, firsts, lasts, nodes) for phase in schedule.phases])
    hops = np.concatenate([_depths(phase, lengths, firsts, lasts, nodes) for phase in schedule.phases])
    shares = [share for phase in schedule.phases for share in phase.shares]
    return Shape(
        trees=len(shares),
        greatest_height=int(heights.max(initial=0)),
        mean_height=_mean(heights, shares),
        greatest_hops=int(hops.max(initial=0)),
        mean_hops=_mean(hops, shares),
    )


def _depths(phase: Phase, lengths: IntArray, firsts: IntArray, lasts: IntArray, nodes: int) -> IntArray:
    """Return of each tree the greatest depth of a node, a route counting `lengths`; all trees advance together."""
    depths = np.zeros((len(phase), nodes), dtype=np.int32)
    sizes = np.diff(phase.routes.starts)
    for position in range(int(sizes.max(initial=0))):
        trees = np.flatnonzero(sizes > position)
        routes = phase.routes.entries[phase.routes.starts[trees] + position]
        depths[trees, lasts[routes]] = depths[trees, firsts[routes]] + lengths[routes]
    deepest: IntArray = depths.max(axis=1, initial=0)
    return deepest


def _mean(values: IntArray, shares: list[Fraction]) -> float:
    total = sum(shares, Fraction(0))
    weighted = sum((int(value) * share for value, share in zip(values, shares, strict=True)), Fraction(0))
    return float(weighted / total) if total else 0.0
