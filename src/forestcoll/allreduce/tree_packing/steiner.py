"""Steiner trees of a low price: trees that join all members, with branches only at nodes that copy.

A tree consists of *arcs*: walks between two copying nodes, whose inner nodes only forward data. A walk may use a link
that another walk of the tree uses; then the link counts twice.

`joined` adds the nearest member until no member is missing (Takahashi and Matsuyama, 1980). It returns at most twice
the least price where prices are equal in both directions. `cheapest_trees` is exact (Dreyfus and Wagner, 1971).
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.tree_packing.metric import Floats, Metric
from forestcoll.forest_optimum.packed_trees import Arc, PackedTree


def joined(metric: Metric, copies: npt.NDArray[np.bool_], root: int, members: Sequence[int]) -> PackedTree:
    """Return a tree from `root` to all members, each joined by the cheapest walk from the nodes reached before.

    Args:
        metric: the prices.
        copies: for each node, whether it copies; members and the root do.
        root: the root.
        members: the nodes to reach.
    """
    reached = {root}
    least = metric.distances[root].copy()
    nearest = np.full(len(least), root)
    missing = np.array([member for member in members if member != root])
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


def cheapest_trees(
    metric: Metric, copies: npt.NDArray[np.bool_], roots: Sequence[int], members: Sequence[int]
) -> list[tuple[float, PackedTree]]:
    """Return, for each root, the price of the cheapest tree from it to all members, and the tree.

    Args:
        metric: the prices.
        copies: for each node, whether it copies; members and roots do.
        roots: the roots.
        members: the nodes to reach, few: the time triples with each.
    """
    table = _Table(metric, np.flatnonzero(copies), members)
    return [(table.price(root), table.tree(root, metric, copies)) for root in roots]


class _Table:
    """For each set of members and each copying node, the price of the cheapest tree from the node to the set."""

    def __init__(self, metric: Metric, nodes: npt.NDArray[np.intp], members: Sequence[int]) -> None:
        self._nodes = nodes.tolist()
        self._members = list(members)
        between: Floats = metric.distances[np.ix_(nodes, nodes)]
        sets, count = 2 ** len(members), len(nodes)
        self._prices: Floats = np.full((sets, count), np.inf)
        self._branch = np.zeros((sets, count), dtype=np.int32)
        self._part = np.zeros((sets, count), dtype=np.int32)
        for place, member in enumerate(members):
            self._prices[1 << place] = metric.distances[nodes, member]
            self._branch[1 << place] = self._nodes.index(member)
        everywhere = np.arange(count)
        for held in range(3, sets):
            if held & (held - 1):
                merged, part = self._merged(held)
                through = between + merged
                self._branch[held] = np.argmin(through, axis=1)
                self._prices[held] = through[everywhere, self._branch[held]]
                self._part[held] = part

    def _merged(self, held: int) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Return, for each node, the least price of two trees that reach the set together, and what one reaches."""
        low = held & -held
        parts = list(_subsets(held ^ low))
        ones = np.array([part | low for part in parts if part | low != held], dtype=np.int64)
        sums = self._prices[ones] + self._prices[held ^ ones]
        best = np.argmin(sums, axis=0)
        return sums[best, np.arange(sums.shape[1])], ones[best].astype(np.int32)

    def price(self, root: int) -> float:
        """Return the price of the cheapest tree from `root` to all members."""
        return float(self._prices[-1, self._nodes.index(root)])

    def tree(self, root: int, metric: Metric, copies: npt.NDArray[np.bool_]) -> PackedTree:
        """Return the tree of the price; walks that meet are cut, which does not raise the price."""
        reached, arcs = {root}, []
        pending = [(self._nodes.index(root), len(self._prices) - 1)]
        while pending:
            place, held = pending.pop(0)
            branch = int(self._branch[held, place])
            for arc in _arcs(metric.walk(self._nodes[place], self._nodes[branch]), copies, reached):
                arcs.append(arc)
                reached.add(arc[-1])
            if held & (held - 1):
                part = int(self._part[held, branch])
                pending += [(branch, part), (branch, held ^ part)]
        return PackedTree(root, tuple(arcs))


def _subsets(held: int) -> list[int]:
    """Return all subsets of a set of bits."""
    found, part = [], held
    while True:
        found.append(part)
        if not part:
            return found
        part = (part - 1) & held
