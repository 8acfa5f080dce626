"""Finds which connected pieces of the same size are copies of each other, node by node.

Most copies have their nodes in the same order, which is tried first. For the others, a node of the first piece is
singled out, and a node of the same colour in each other piece, and colours are refined. This is repeated until every
node of the first piece has its own colour. A piece whose colours then differ tries another node.
"""

import numpy as np

from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Hashes, Indices, Mask
from forestcoll.topology.symmetry.automorphisms.refinement import Budget, Refinement, class_count, singled_out

_MOST_ROUNDS = 512


def aligned(graph: ColouredGraph, pieces: Indices, budget: Budget) -> list[Indices]:
    """Return the rows of `pieces` in groups of copies, one array for each group.

    Within a group, the nodes of a column can be exchanged with each other if all columns are exchanged together.

    Args:
        graph: all pieces, without arcs between them.
        pieces: a row for each piece: its nodes, in ascending order.
        budget: limits the work; a piece for which it does not suffice forms its own group.
    """
    groups = []
    while len(pieces) > 1 and not budget.is_empty:
        alike = _copies(graph, pieces)
        if not alike.all():
            pieces = _searched(graph, pieces, alike, budget)
            alike = _copies(graph, pieces)
        groups.append(pieces[alike])
        pieces = np.sort(pieces[~alike], axis=1)
    return groups + [pieces[row : row + 1] for row in range(len(pieces))]


def _copies(graph: ColouredGraph, pieces: Indices) -> Mask:
    """Return which rows have the same colours and arcs as the first row, column by column."""
    count, size = pieces.shape
    part = graph.part(pieces.reshape(-1))
    alike: Mask = (part.colour.reshape(count, size) == part.colour[:size]).all(axis=1)
    row = part.source // size
    arcs = np.bincount(row, minlength=count)
    alike &= arcs == arcs[0]
    code = (part.source % size * size + part.target % size) * (part.label.max(initial=0) + 1) + part.label
    order = np.lexsort((code, row))
    table = code[order[alike[row[order]]]].reshape(int(alike.sum()), arcs[0])
    alike[alike] = (table == table[0]).all(axis=1)
    return alike


def _searched(graph: ColouredGraph, pieces: Indices, alike: Mask, budget: Budget) -> Indices:
    """Return `pieces` with the nodes of each row ordered so that the row may be a copy of the first row."""
    rows = np.concatenate([[0], np.flatnonzero(~alike)])
    part = graph.part(pieces[rows].reshape(-1))
    colour = _individualised(part, len(rows), budget)
    order = np.argsort(colour, axis=1, kind="stable")
    back = np.argsort(order[0], kind="stable")  # keeps the first row unchanged
    result = pieces.copy()
    result[rows] = np.take_along_axis(pieces[rows], order[:, back], axis=1)
    return result


def _individualised(graph: ColouredGraph, count: int, budget: Budget) -> Hashes:
    """Return colours, a row for each of `count` pieces; those of the first are all different if the budget suffices."""
    refinement = Refinement(graph, budget)
    colour, _ = refinement.settled(refinement.with_twins_ranked(graph.colour), _MOST_ROUNDS)
    mark = 0
    while class_count(colour.reshape(count, -1)[0]) < graph.nodes // count and not budget.is_empty:
        colour, mark = _step(refinement, colour, count, mark), mark + 1
    return colour.reshape(count, -1)


def _step(refinement: Refinement, colour: Hashes, count: int, mark: int) -> Hashes:
    """Single out a node of the smallest class with several nodes in the first piece, and one in each other piece."""
    values, sizes = np.unique(colour.reshape(count, -1)[0], return_counts=True)
    sizes[sizes == 1] = len(colour) + 1
    target, tries = values[np.argmin(sizes)], int(sizes.min())
    chosen = _nth(colour, count, target, np.zeros(count, dtype=np.int64))
    result, rounds = refinement.settled(singled_out(colour, chosen, mark), _MOST_ROUNDS)
    turn = np.zeros(count, dtype=np.int64)
    hopeful = _like_first(colour, count)
    for _ in range(1, tries):
        wrong = hopeful & ~_like_first(result, count)
        if not wrong.any():
            break
        turn[wrong] += 1
        chosen = _nth(colour, count, target, turn)
        result = refinement.rounds(singled_out(colour, chosen, mark), rounds)
    return result


def _like_first(colour: Hashes, count: int) -> Mask:
    """Return which pieces have the same colours as the first, in any order."""
    table = np.sort(colour.reshape(count, -1), axis=1)
    return np.asarray((table == table[0]).all(axis=1))


def _nth(colour: Hashes, count: int, target: np.uint64, turn: Indices) -> Indices:
    """Return, for each piece, its node number `turn` of colour `target`, or its first node if it has no such node."""
    table = colour.reshape(count, -1) == target
    reached = table & (np.cumsum(table, axis=1) == turn[:, np.newaxis] + 1)
    first: Indices = np.arange(count) * table.shape[1] + np.argmax(reached, axis=1)
    return first
