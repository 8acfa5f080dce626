"""Finds the group of a graph from the groups of its pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from forestcoll.topology.automorphisms.connected import ConnectedSearch
from forestcoll.topology.automorphisms.graph import Graph, Indices
from forestcoll.topology.automorphisms.group import Generator, common
from forestcoll.topology.automorphisms.pieces import PieceTree, places, tree_of
from forestcoll.topology.automorphisms.refinement import Budget, Refinement

_MOST_ROUNDS = 512


def group_of(graph: Graph, budget: Budget) -> list[Generator]:
    """Return commuting symmetries of `graph` whose products act freely on its compute nodes.

    The order of such a group divides the number of compute nodes of each colour. So the search ends when one compute
    node has a colour of its own.
    """
    colour, _ = Refinement(graph, budget).settled(graph.colour, _MOST_ROUNDS)
    graph = graph.coloured(colour)
    if largest_order(graph) == 1:
        return []
    tree = tree_of(graph, budget)
    order = tree.whole.order
    return [_carried(each, order) for each in _Solver(tree, budget).group(tree.whole.sort)]


def largest_order(graph: Graph) -> int:
    """Return the greatest common divisor of the numbers of compute nodes of each colour."""
    return gcd(*np.unique(graph.colour[graph.compute], return_counts=True)[1].tolist())


def _carried(generator: Generator, order: Indices) -> Generator:
    """Return a permutation of places as a permutation of `order`, the nodes in these places."""
    image = np.empty_like(order)
    image[order] = order[generator.image]
    return Generator(generator.order, image)


@dataclass(slots=True)
class _Solver:
    """Finds the group of each sort of pieces of `tree` once, as permutations of places."""

    tree: PieceTree
    budget: Budget
    known: dict[int, list[Generator]] = field(default_factory=dict)

    def group(self, sort: int) -> list[Generator]:
        if sort not in self.known:
            found = self.tree.sorts[sort]
            self.known[sort] = self._of_members(found.members) if found.example is None else self._whole(found.example)
        return self.known[sort]

    def _whole(self, nodes: Indices) -> list[Generator]:
        """Return the group of a piece that cannot be split."""
        graph = self.tree.graph.part(np.sort(nodes))
        if len(nodes) == 1 or not graph.compute.any() or largest_order(graph) == 1:
            return []
        found = ConnectedSearch(graph, self.budget, group_of, largest_order(graph)).group()
        place = np.argsort(nodes)  # of each node of the graph
        return [_carried(each, place) for each in found]

    def _of_members(self, members: Sequence[tuple[int, int]]) -> list[Generator]:
        """Return what copies of several sorts can do together; sorts that contain only switches stay in place."""
        rows = places(self.tree.sorts, members)
        total = sum(row.size for row in rows)
        acting, moved = [], []
        for (sort, count), row in zip(members, rows, strict=True):
            if self._has_compute(sort):
                acting.append(_of_copies(count, self.tree.sorts[sort].nodes, self.group(sort)))
                moved.append(row.reshape(-1))
                if not acting[-1]:
                    return []
        found = acting[0] if len(acting) == 1 else common(acting)
        return [_spread(each, np.concatenate(moved), total) for each in found]

    def _has_compute(self, sort: int) -> bool:
        found = self.tree.sorts[sort]
        if found.example is not None:
            return bool(self.tree.graph.compute[found.example].any())
        return any(self._has_compute(member) for member, _ in found.members)


def _of_copies(count: int, nodes: int, inner: Sequence[Generator]) -> list[Generator]:
    """Return the shift of `count` copies of `nodes` nodes each, and the `inner` symmetries applied in all copies."""
    rows = np.arange(count * nodes).reshape(count, nodes)
    found = [Generator(count, np.roll(rows, -1, axis=0).reshape(-1))] if count > 1 else []
    return found + [Generator(each.order, rows[:, each.image].reshape(-1)) for each in inner]


def _spread(generator: Generator, places: Indices, total: int) -> Generator:
    """Return a permutation of `places` as a permutation of `total` places that keeps the others fixed."""
    image = np.arange(total)
    image[places] = places[generator.image]
    return Generator(generator.order, image)
