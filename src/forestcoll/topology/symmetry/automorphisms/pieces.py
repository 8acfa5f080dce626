"""The tree of pieces that a graph falls into, level by level, with equal pieces marked as copies.

Pieces of one sort list their nodes in such orders that they can be exchanged place by place. So a symmetry of a sort,
written as a permutation of places, is a symmetry of each of its pieces, and the pieces of one sort within a larger
piece can be permuted.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.topology.symmetry.automorphisms.alignment import aligned
from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Indices
from forestcoll.topology.symmetry.automorphisms.hashing import mixed
from forestcoll.topology.symmetry.automorphisms.refinement import Budget
from forestcoll.topology.symmetry.automorphisms.splitting import Level, split


@dataclass(frozen=True, eq=False, slots=True)
class Sort:
    """The common properties of pieces that are copies of each other.

    Attributes:
        nodes: the number of nodes of a piece.
        members: for a sort that can be split: the sorts of its parts, in ascending order, with their counts, in
            the order of its places; otherwise empty.
        example: for a sort that cannot be split: the nodes of one piece, in the order of the places.
    """

    nodes: int
    members: tuple[tuple[int, int], ...] = ()
    example: Indices | None = None


@dataclass(frozen=True, eq=False, slots=True)
class _Piece:
    """Some nodes of a graph: the sort that they form, and which node is in which place."""

    sort: int
    order: Indices


@dataclass(frozen=True, eq=False, slots=True)
class PieceTree:
    """A graph as its pieces.

    Attributes:
        graph: the graph with the arcs that are left after splitting.
        sorts: of all pieces of the tree; the sorts of parts come before the sort of the whole.
        whole: all nodes.
    """

    graph: ColouredGraph
    sorts: list[Sort]
    whole: _Piece


@dataclass(slots=True)
class _Grower:
    """Finds the pieces, starting with the smallest."""

    graph: ColouredGraph
    budget: Budget
    sorts: list[Sort] = field(default_factory=list)
    known: dict[Hashable, int] = field(default_factory=dict)

    def smallest(self, level: Level) -> list[_Piece]:
        """Return the pieces that cannot be split."""
        size = np.bincount(level.piece)
        colours = np.zeros(len(size), dtype=np.uint64)
        np.add.at(colours, level.piece, mixed(self.graph.colour))
        members = np.argsort(level.piece, kind="stable")
        first = np.cumsum(size) - size
        alike = np.unique(np.stack([size.astype(np.uint64), colours]), axis=1, return_inverse=True)[1].reshape(-1)
        pieces: list[_Piece] = []
        for batch in np.split(np.argsort(alike, kind="stable"), np.cumsum(np.bincount(alike))[:-1]):
            pieces += self._batch(members[first[batch][:, np.newaxis] + np.arange(size[batch[0]])])
        return pieces

    def _batch(self, rows: Indices) -> list[_Piece]:
        """Return the pieces with these `rows` of nodes, which have the same size and the same colours."""
        nodes = rows.shape[1]
        pieces: list[_Piece] = []
        for group in aligned(self.graph, rows, self.budget) if nodes > 1 else [rows]:
            self.sorts.append(Sort(nodes, example=group[0]))
            pieces += [_Piece(len(self.sorts) - 1, order) for order in group]
        return pieces

    def larger(self, level: Level, pieces: list[_Piece]) -> list[_Piece]:
        """Return the pieces of `level`, which are made of `pieces`."""
        inside: defaultdict[int, list[_Piece]] = defaultdict(list)
        around = level.piece[[piece.order[0] for piece in pieces]].tolist()
        for piece, number in zip(pieces, around, strict=True):
            inside[number].append(piece)
        return [
            members[0] if len(members) == 1 else self._joined(members, int(level.relation[number]))
            for number, members in sorted(inside.items())
        ]

    def _joined(self, pieces: list[_Piece], relation: int) -> _Piece:
        pieces.sort(key=lambda piece: piece.sort)
        members = tuple(Counter(piece.sort for piece in pieces).items())
        order = np.concatenate([piece.order for piece in pieces])
        sort = self.known.setdefault((members, relation), len(self.sorts))
        if sort == len(self.sorts):
            self.sorts.append(Sort(len(order), members=members))
        return _Piece(sort, order)


def tree_of(graph: ColouredGraph, budget: Budget) -> PieceTree:
    """Return the tree of `graph`, whose colours must be refined."""
    simpler, levels = split(graph)
    grower = _Grower(simpler, budget)
    pieces = grower.smallest(levels[-1])
    for level in reversed(levels[:-1]):
        pieces = grower.larger(level, pieces)
    return PieceTree(simpler, grower.sorts, pieces[0])


def places(sorts: Sequence[Sort], members: Sequence[tuple[int, int]]) -> list[Indices]:
    """Return, for each of `members`, its places in the piece that contains it: a row for each copy."""
    result, first = [], 0
    for sort, count in members:
        nodes = sorts[sort].nodes
        result.append(first + np.arange(count * nodes).reshape(count, nodes))
        first += count * nodes
    return result
