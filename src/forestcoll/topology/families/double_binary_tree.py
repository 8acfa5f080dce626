"""Two binary trees over the same nodes, each node a leaf of at least one (Sanders, Speck and Träff, 2009).

The first tree is numbered in order, so that every second node, from node 0 on, has no children. The second tree is the
first one shifted by one node, so that no node has children in both.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("double-binary-tree", summary="two binary trees over the same nodes", source="unit bandwidth")
@dataclass(frozen=True)
class DoubleBinaryTree(Recipe):
    """The two trees of the double-binary-tree algorithm; an edge of both has twice the bandwidth."""

    nodes: int = integer(8, "compute nodes", minimum=2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each edge of a tree, each way")

    def size(self) -> Size:
        return Size(self.nodes, 2 * len({edge for edge, _ in self._edges()}))

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.nodes)
        for (one, other), trees in self._edges():
            network.add_duplex(one, other, trees * self.bandwidth)

    def _edges(self) -> list[tuple[tuple[int, int], int]]:
        """Return the edges of the trees, and whether each is in one tree or in both (1 or 2)."""
        edges = Counter(
            (min(node, parent), max(node, parent))
            for parents in double_tree(self.nodes)
            for node, parent in enumerate(parents)
            if parent is not None
        )
        return sorted(edges.items())


def double_tree(nodes: int) -> tuple[list[int | None], list[int | None]]:
    """Return, for both trees, the parent of each node, None for the root."""
    first = _in_order(nodes)
    second: list[int | None] = [None] * nodes
    for place, parent in enumerate(first):
        second[(place + 1) % nodes] = None if parent is None else (parent + 1) % nodes
    return first, second


def _in_order(nodes: int) -> list[int | None]:
    """Return the parent of each node in a binary tree that is numbered in order and whose left subtrees are full."""
    parents: list[int | None] = [None] * nodes
    parts: list[tuple[int, int, int | None]] = [(0, nodes, None)]
    while parts:
        begin, end, parent = parts.pop()
        root = begin + (1 << (end - begin).bit_length() - 1) - 1
        parents[root] = parent
        parts.extend(part for part in ((begin, root, root), (root + 1, end, root)) if part[0] < part[1])
    return parents
