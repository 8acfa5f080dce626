"""A topology as arrays, and basic questions about such a graph: its pieces, and whether a map is a symmetry."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Node, Topology
from forestcoll.topology.symmetry.automorphisms.hashing import hashes

Indices: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class ColouredGraph:
    """Nodes numbered from 0 and arcs between them.

    Attributes:
        compute: which nodes are compute nodes.
        colour: of each node; only nodes of the same colour can be exchanged.
        source: of each arc; two nodes have at most one arc with the same label and direction between them.
        target: of each arc.
        label: of each arc; only arcs with the same label can be exchanged.
    """

    compute: Mask
    colour: Hashes
    source: Indices
    target: Indices
    label: Indices

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.colour)

    def coloured(self, colour: Hashes) -> "ColouredGraph":
        """Return the same graph with other colours."""
        return replace(self, colour=colour)

    def part(self, nodes: Indices) -> "ColouredGraph":
        """Return `nodes`, renumbered in the order given, with the arcs among them."""
        place = np.full(self.nodes, -1)
        place[nodes] = np.arange(len(nodes))
        inside = (place[self.source] >= 0) & (place[self.target] >= 0)
        source, target = place[self.source[inside]], place[self.target[inside]]
        return ColouredGraph(self.compute[nodes], self.colour[nodes], source, target, self.label[inside])

    def with_arcs(self, images: Sequence[Indices]) -> "ColouredGraph":
        """Return the graph with an arc from each node to its image: its symmetries commute with all `images`."""
        if not images:
            return self
        first = int(self.label.max(initial=-1)) + 1
        labels = np.repeat(np.arange(first, first + len(images)), self.nodes)
        return replace(
            self,
            source=np.concatenate([self.source, np.tile(np.arange(self.nodes), len(images))]),
            target=np.concatenate([self.target, *images]),
            label=np.concatenate([self.label, labels]),
        )


def graph_of(topology: Topology) -> ColouredGraph:
    """Return `topology` with a colour for each sort of node and a label for each bandwidth and latency."""
    sorts: dict[object, int] = {}
    colours = [sorts.setdefault(_sort(node), len(sorts)) for node in topology.nodes]
    source, target = (np.array(ends, dtype=np.int64) for ends in topology.link_ends)
    compute = np.zeros(len(colours), dtype=np.bool_)
    compute[list(topology.compute)] = True
    return ColouredGraph(compute, hashes(np.array(colours)), source, target, _labels(topology))


def _labels(topology: Topology) -> Indices:
    """Return a number for each pair of bandwidth and latency."""
    numbers: dict[object, int] = {}
    keys = zip(topology.bandwidth_classes[1], (link.latency_us for link in topology.links), strict=True)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _sort(node: Node) -> tuple[bool, bool, bool]:
    return node.is_compute, node.multicast, node.aggregation


def components(nodes: int, source: Indices, target: Indices) -> Indices:
    """Return, for each node, the number of its connected component; components are numbered by their lowest node."""
    root = np.arange(nodes)
    while True:
        lower = root.copy()
        one, other = root[source], root[target]
        np.minimum.at(lower, one, other)
        np.minimum.at(lower, other, one)
        while not np.array_equal(lower, further := lower[lower]):
            lower = further
        if np.array_equal(lower, root):
            return np.unique(root, return_inverse=True)[1].reshape(-1)
        root = lower


class ArcTable:
    """The arcs of a graph, sorted, so that maps of its nodes can be tested on them."""

    def __init__(self, graph: ColouredGraph) -> None:
        self._graph = graph
        key = graph.source * graph.nodes + graph.target
        order = np.lexsort((graph.label, key))
        self._key, self._label = key[order], graph.label[order]
        self._ends = graph.source[order], graph.target[order]

    def labels(self, source: Indices, target: Indices) -> Indices:
        """Return the label of the arc from each `source` to its `target`, -1 where there is none."""
        if not len(self._key):
            return np.full(len(source), -1)
        key = source * self._graph.nodes + target
        place = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        return np.where(self._key[place] == key, self._label[place], -1)

    def is_symmetry(self, image: Indices) -> bool:
        """Return whether `image`, a permutation, keeps all colours and arcs."""
        if not np.array_equal(self._graph.colour, self._graph.colour[image]):
            return False
        return self.keeps_arcs(image, slice(256)) and self.keeps_arcs(image, slice(256, None))

    def keeps_arcs(self, image: Indices, which: slice) -> bool:
        """Return whether each arc of `which`, in table order, maps to an arc of its label; image -1 means unknown."""
        source, target = (image[end[which]] for end in self._ends)
        known = (source >= 0) & (target >= 0)
        found = self.labels(source[known], target[known])
        return np.array_equal(found, self._label[which][known])
