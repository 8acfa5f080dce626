"""Steiner trees of a low price: trees that join all members, with branches only at nodes that copy.

A tree consists of *arcs*: walks between two copying nodes, whose inner nodes only forward data. A walk may use a link
that another walk of the tree uses; then the link counts twice.

`joined` adds the nearest member until no member is missing (Takahashi and Matsuyama, 1980). It returns at most twice
the least price where prices are equal in both directions. `improved` joins other nodes that copy in addition, or leaves
some out, as long as the tree becomes cheaper. `cheapest_tree` is exact.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.solver.forests.packed_trees import Arc, PackedTree
from forestcoll.topology.graph.metric import Metric

Price: TypeAlias = Callable[[PackedTree], float]

_LEAST_GAIN = 1e-6
"""The part of the price that a change must save, so that rounding errors are not gains."""


def joined(
    metric: Metric, copies: npt.NDArray[np.bool_], root: int, members: Sequence[int], holders: Sequence[int] = ()
) -> PackedTree:
    """Return a tree from `root` to all members, each joined by the cheapest walk from the nodes reached before.

    Args:
        metric: the prices.
        copies: for each node, whether it copies; members, the root and the holders do.
        root: the root.
        members: the nodes to reach.
        holders: further nodes that have the data, so that arcs may begin at them.
    """
    reached = {root, *holders}
    starts = np.array(sorted(reached))
    least = metric.distances[starts].min(axis=0)
    nearest = starts[metric.distances[starts].argmin(axis=0)]
    missing = np.array([member for member in members if member not in reached])
    arcs: list[Arc] = []
    while len(missing):
        target = int(missing[np.argmin(least[missing])])
        for arc in _arcs(metric.walk(int(nearest[target]), target), copies, reached):
            arcs.append(arc)
            reached.add(arc[-1])
            closer = metric.distances[arc[-1]] < least
            least[closer] = metric.distances[arc[-1]][closer]
            nearest[closer] = arc[-1]
        missing = np.array([member for member in missing.tolist() if member not in reached])
    return PackedTree(root, tuple(arcs))


def _arcs(walk: Sequence[int], copies: npt.NDArray[np.bool_], reached: set[int]) -> list[Arc]:
    """Return the arcs of the part of the walk after the last node that was reached before."""
    stops = [place for place, node in enumerate(walk) if copies[node]]
    first = max(place for place in stops if walk[place] in reached)
    kept = [place for place in stops if place >= first]
    return [tuple(walk[begin : end + 1]) for begin, end in itertools.pairwise(kept)]


def improved(
    metric: Metric, copies: npt.NDArray[np.bool_], tree: PackedTree, members: Sequence[int], price: Price
) -> PackedTree:
    """Return a tree that is not more expensive: each change of one node that copies makes it cheaper.

    Args:
        metric: the prices.
        copies: for each node, whether it copies; members and the root do.
        tree: a tree to all members.
        members: the nodes to reach.
        price: the price of a tree.
    """
    reached = copies & (metric.distances[tree.root] < np.inf)
    others = sorted(set(np.flatnonzero(reached).tolist()) - {*members, tree.root})
    best, found = price(tree), True
    while found:
        found = False
        for changed in others:
            inner = {arc[-1] for arc in tree.arcs}.difference(members) ^ {changed}
            other = joined(metric, copies, tree.root, [*members, *sorted(inner)]).pruned(members)
            if price(other) < best * (1 - _LEAST_GAIN):
                tree, best, found = other, price(other), True
    return tree


class Walks(Protocol):
    """Trees as pairs of nodes that are joined by walks."""

    def walks(self, root: int) -> Iterable[tuple[int, int]]:
        """Return the start and the end of each walk of the tree from `root`; the start was reached before."""


def cheapest_tree(
    metric: Metric, copies: npt.NDArray[np.bool_], least: Walks, root: int, holders: Sequence[int] = ()
) -> PackedTree:
    """Return the cheapest tree from `root`. Walks that meet are cut, which does not raise the price.

    Args:
        metric: the prices.
        copies: for each node, whether it copies.
        least: the shortest trees for these prices, with branches at all nodes that copy.
        root: the root, which copies.
        holders: further nodes that have the data; in `least`, the root stands for all of them.
    """
    begin = (root, *holders)
    reached, arcs = set(begin), []
    for place, end in least.walks(root):
        start = min(begin, key=lambda each: metric.distances[each, end]) if place == root else place
        for arc in _arcs(metric.walk(start, end), copies, reached):
            arcs.append(arc)
            reached.add(arc[-1])
    return PackedTree(root, tuple(arcs))
