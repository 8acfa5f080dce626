"""Finds the group of a graph from the groups of its pieces.

A group moves every compute node, or it may leave some in place. In a network with a few faults, a piece with a fault
has no copies, but the other pieces have. So if compute nodes may stay in place, a sort of pieces stays in place unless
it can act together with the other sorts such that the compute nodes are in fewer orbits. Each group that is found has
an orbit with as many compute nodes as the group has elements, because this is true of a shift of copies, of products of
such groups, and of their subgroups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import gcd

import numpy as np

from forestcoll.topology.symmetry.automorphisms.connected import ConnectedSearch
from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Indices, Mask
from forestcoll.topology.symmetry.automorphisms.group import Generator, common, orbit_count
from forestcoll.topology.symmetry.automorphisms.pieces import PieceTree, places, tree_of
from forestcoll.topology.symmetry.automorphisms.refinement import Budget, Refinement

_MOST_ROUNDS = 512


def group_of(graph: ColouredGraph, budget: Budget, *, moves_all: bool = True) -> list[Generator]:
    """Return commuting symmetries of `graph` whose products act freely on its compute nodes.

    The order of such a group divides the number of compute nodes of each colour. So the search ends when one compute
    node has a colour of its own. If not `moves_all`, the products act freely on some orbit of compute nodes only.
    """
    colour, _ = Refinement(graph, budget).settled(graph.colour, _MOST_ROUNDS)
    graph = graph.coloured(colour)
    if moves_all and largest_order(graph) == 1:
        return []
    tree = tree_of(graph, budget)
    order = tree.whole.order
    return [_carried(each, order) for each in _Solver(tree, budget, moves_all).group(tree.whole.sort)]


def largest_order(graph: ColouredGraph) -> int:
    """Return the greatest common divisor of the numbers of compute nodes of each colour."""
    return gcd(*np.unique(graph.colour[graph.compute], return_counts=True)[1].tolist())


def _carried(generator: Generator, order: Indices) -> Generator:
    """Return a permutation of places as a permutation of `order`, the nodes in these places."""
    image = np.empty_like(order)
    image[order] = order[generator.image]
    return Generator(generator.order, image)


@dataclass(frozen=True, eq=False, slots=True)
class _Acting:
    """What all copies of a sort can do, as permutations of `places`, their places in the piece that contains them."""

    group: list[Generator]
    places: Indices


@dataclass(slots=True)
class _Solver:
    """Finds the group of each sort of pieces of `tree` once, as permutations of places."""

    tree: PieceTree
    budget: Budget
    moves_all: bool
    known: dict[int, list[Generator]] = field(default_factory=dict)

    def group(self, sort: int) -> list[Generator]:
        if sort not in self.known:
            found = self.tree.sorts[sort]
            self.known[sort] = self._of_members(found.members) if found.example is None else self._whole(found.example)
        return self.known[sort]

    def _whole(self, nodes: Indices) -> list[Generator]:
        """Return the group of a piece that cannot be split."""
        graph = self.tree.graph.part(np.sort(nodes))
        bound = largest_order(graph) if graph.compute.any() else 1
        if len(nodes) == 1 or not graph.compute.any() or (bound == 1 and self.moves_all):
            return []
        search = ConnectedSearch(graph, self.budget, partial(group_of, moves_all=self.moves_all), bound)
        found = search.group() if self.moves_all else search.fewest_orbits()
        place = np.argsort(nodes)  # of each node of the graph
        return [_carried(each, place) for each in found]

    def _of_members(self, members: Sequence[tuple[int, int]]) -> list[Generator]:
        """Return what copies of several sorts can do together; sorts that contain only switches stay in place."""
        compute = self._compute_of(members)
        acting = list(self._acting(members))
        if not self.moves_all:
            return _with_fewest_orbits(acting, compute)
        return _together(acting, len(compute)) if all(each.group for each in acting) else []

    def _acting(self, members: Sequence[tuple[int, int]]) -> Iterator[_Acting]:
        for (sort, count), row in zip(members, places(self.tree.sorts, members), strict=True):
            if self._compute_of([(sort, 1)]).any():
                yield _Acting(_of_copies(count, self.tree.sorts[sort].nodes, self.group(sort)), row.reshape(-1))

    def _compute_of(self, members: Sequence[tuple[int, int]]) -> Mask:
        """Return which places of a piece with these members are those of compute nodes."""
        parts = []
        for sort, count in members:
            own, example = self.tree.sorts[sort].members, self.tree.sorts[sort].example
            of_one = self._compute_of(own) if example is None else self.tree.graph.compute[example]
            parts.append(np.tile(of_one, count))
        return np.concatenate(parts)


def _with_fewest_orbits(acting: Sequence[_Acting], compute: Mask) -> list[Generator]:
    """Return what some sorts can do together; a sort stays in place if the orbits would not be fewer with it."""
    chosen: list[_Acting] = []
    found: list[Generator] = []
    fewest = orbit_count(found, compute)
    able = [each for each in acting if each.group]
    for each in sorted(able, key=lambda one: -int(compute[one.places].sum())):
        tried = _together([*chosen, each], len(compute))
        if (count := orbit_count(tried, compute)) < fewest:
            chosen, found, fewest = [*chosen, each], tried, count
    return found


def _together(acting: Sequence[_Acting], total: int) -> list[Generator]:
    """Return what sorts can do at the same time, as permutations of `total` places."""
    found = acting[0].group if len(acting) == 1 else common([each.group for each in acting])
    moved = np.concatenate([each.places for each in acting])
    return [_spread(each, moved, total) for each in found]


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
