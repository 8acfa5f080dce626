"""Splitting a graph: redundant arcs are removed, until the rest falls into pieces.

Suppose every node of one colour has an arc of the same label to every node of another colour, such as all GPUs and the
switch that joins all boxes. Then every permutation that keeps the colours keeps these arcs, so the graph has the same
symmetries without them. If more than half of these arcs exist, they are replaced by the missing ones. Often the graph
then falls into connected pieces, in which fewer nodes have the same colour, and the step is repeated, level by level.
Pieces of one sort may be permuted.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Hashes, Indices, components
from forestcoll.topology.symmetry.automorphisms.hashing import hashes, mixed


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """How a graph falls into pieces.

    Attributes:
        piece: for each node, the number of its piece.
        relation: for each piece, a hash of the arcs that were removed or complemented to split it further.
    """

    piece: Indices
    relation: Hashes


@dataclass(frozen=True, eq=False, slots=True)
class _Cells:
    """The nodes of one colour in one piece are a cell."""

    of: Indices
    size: Indices

    @staticmethod
    def within(piece: Indices, colour: Indices) -> "_Cells":
        _, of, size = np.unique(piece * (colour.max() + 1) + colour, return_inverse=True, return_counts=True)
        return _Cells(of.reshape(-1), size)


def split(graph: ColouredGraph) -> tuple[ColouredGraph, list[Level]]:
    """Return `graph` with the remaining arcs, and its levels, from one whole piece to pieces that cannot be split."""
    colour = np.unique(graph.colour, return_inverse=True)[1].reshape(-1)
    piece = np.zeros(graph.nodes, dtype=np.int64)
    levels: list[Level] = []
    while True:
        cells = _Cells.within(piece, colour)
        graph, relation = _simplified(graph, piece, cells)
        levels.append(Level(piece, relation))
        finer = components(graph.nodes, graph.source, graph.target)
        if finer.max() == piece.max():
            return graph, levels
        piece = finer


def _simplified(graph: ColouredGraph, piece: Indices, cells: _Cells) -> tuple[ColouredGraph, Hashes]:
    """Return `graph` with redundant arcs between two cells removed or complemented, and `Level.relation`."""
    tail, head = cells.of[graph.source], cells.of[graph.target]
    key = (tail * len(cells.size) + head) * (graph.label.max(initial=0) + 1) + graph.label
    _, example, group, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    tails, heads = tail[example], head[example]
    room = cells.size[tails] * cells.size[heads] - np.where(tails == heads, cells.size[tails], 0)
    common = 2 * count > room
    kept = ~common[group.reshape(-1)]
    complemented = common & (count < room)
    label = graph.label[example]
    source, target, missing = _missing(graph, cells, tails[complemented], heads[complemented], label[complemented])
    simpler = ColouredGraph(
        graph.compute,
        graph.colour,
        np.concatenate([graph.source[kept], source]),
        np.concatenate([graph.target[kept], target]),
        np.concatenate([graph.label[kept], missing]),
    )
    return simpler, _relation(graph, piece, example[common])


def _missing(
    graph: ColouredGraph, cells: _Cells, tails: Indices, heads: Indices, labels: Indices
) -> tuple[Indices, Indices, Indices]:
    """Return the pairs from cell `tails` to cell `heads` without any arc, and a label for each pair."""
    members = np.argsort(cells.of, kind="stable")
    first = np.cumsum(cells.size) - cells.size
    pairs = cells.size[tails] * cells.size[heads]
    which = np.repeat(np.arange(len(tails)), pairs)
    place = np.arange(len(which)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    source = members[first[tails[which]] + place // cells.size[heads[which]]]
    target = members[first[heads[which]] + place % cells.size[heads[which]]]
    arcs = np.sort(graph.source * graph.nodes + graph.target)
    wanted = source * graph.nodes + target
    present = arcs[np.minimum(np.searchsorted(arcs, wanted), len(arcs) - 1)] == wanted
    free = ~present & (source != target)
    return source[free], target[free], labels[which[free]]


def _relation(graph: ColouredGraph, piece: Indices, examples: Indices) -> Hashes:
    """Return, for each piece, a hash of the colours and labels of the arcs `examples` in it."""
    relation = np.zeros(piece.max() + 1, dtype=np.uint64)
    source, target = graph.source[examples], graph.target[examples]
    ends = mixed(graph.colour[source]) + graph.colour[target]
    np.add.at(relation, piece[source], mixed(ends ^ hashes(graph.label[examples])))
    return relation
