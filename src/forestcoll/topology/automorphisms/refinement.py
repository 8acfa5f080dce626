"""Colour refinement: nodes that differ in what they are joined to get different colours, until nothing changes.

A node's next colour is a hash of its own and the sum of those of its neighbours, each times a factor for the label
and the direction of the arc between them. It does not depend on how nodes are numbered, so that equal colours after
equally many rounds mean the same in any two graphs. A round costs the number of arcs.
"""

import numpy as np

from forestcoll.topology.automorphisms.graph import Graph, Hashes, Indices
from forestcoll.topology.automorphisms.hashing import hashes, mixed

_ROUND_COST = 20_000
"""What a round costs beside its arcs and nodes, in arcs."""

_TWIN_LABELS = 4


class Purse:
    """How much work may still be done, counted in arcs looked at; where it is empty, a search ends with what it has."""

    def __init__(self, work: int) -> None:
        self._left = work

    @property
    def is_empty(self) -> bool:
        """Whether all is spent."""
        return self._left <= 0

    def spend(self, work: int) -> None:
        """Take `work` out."""
        self._left -= work


class Refinement:
    """Refines colours of one graph; those of the graph itself are where a caller may begin."""

    def __init__(self, graph: Graph, purse: Purse) -> None:
        self._purse = purse
        ends = np.concatenate([graph.source, graph.target])
        order = np.argsort(ends, kind="stable")
        ends = ends[order]
        self._neighbour = np.concatenate([graph.target, graph.source])[order]
        factors = hashes(np.concatenate([2 * graph.label, 2 * graph.label + 1])) | np.uint64(1)
        self._factor = factors[order]
        self._starts = np.flatnonzero(np.diff(ends, prepend=-1))
        self._owners = ends[self._starts]
        self._labels = graph.label
        self._cost = len(ends) + 12 * graph.nodes + _ROUND_COST

    def rounds(self, colour: Hashes, count: int) -> Hashes:
        """Return `colour` after `count` rounds, or fewer if the purse is empty."""
        for _ in range(count):
            if self._purse.is_empty:
                break
            colour = self._round(colour)
        return colour

    def _round(self, colour: Hashes) -> Hashes:
        self._purse.spend(self._cost)
        refined = mixed(colour)
        if len(self._starts):
            refined[self._owners] += np.add.reduceat(colour[self._neighbour] * self._factor, self._starts)
        return mixed(refined)

    def with_twins_ranked(self, colour: Hashes) -> Hashes:
        """Return `colour` with other colours for nodes that could be exchanged alone, all else in place.

        They are told apart by their numbers: whichever is which makes no difference. Joined twins are found for the
        commonest labels only.
        """
        number = hashes(np.arange(len(colour)))
        around = np.zeros_like(colour)
        if len(self._starts):
            around[self._owners] = np.add.reduceat(number[self._neighbour] * self._factor, self._starts)
        colour = _ranked(colour, around)
        labels, counts = np.unique(self._labels, return_counts=True)
        for label in labels[np.argsort(-counts, kind="stable")][:_TWIN_LABELS]:
            out, back = hashes(np.array([2 * label, 2 * label + 1])) | np.uint64(1)
            colour = _ranked(colour, around + number * out + number * back)
        return colour

    def settled(self, colour: Hashes, at_most: int) -> tuple[Hashes, int]:
        """Return `colour` after as many rounds as split a class, and one, but `at_most`; and how many they were."""
        classes, done = class_count(colour), 0
        while done < at_most and not self._purse.is_empty:
            colour, done = self._round(colour), done + 1
            before, classes = classes, class_count(colour)
            if classes in (before, len(colour)):
                break
        return colour, done


def class_count(colour: Hashes) -> int:
    """Return how many different colours there are."""
    return len(np.unique(colour))


def singled_out(colour: Hashes, nodes: Indices, mark: int | Indices) -> Hashes:
    """Return `colour` with other colours for `nodes`, which depend on `mark`."""
    changed = colour.copy()
    changed[nodes] = mixed(colour[nodes] ^ hashes(np.atleast_1d(mark)))
    return changed


def _ranked(colour: Hashes, around: Hashes) -> Hashes:
    """Return `colour` with another one for the second, third, ... of the nodes that agree in it and in `around`."""
    order = np.lexsort((around, colour))
    fresh = np.ones(len(colour), dtype=np.bool_)
    fresh[1:] = (np.diff(colour[order]) != 0) | (np.diff(around[order]) != 0)
    begin = np.maximum.accumulate(np.where(fresh, np.arange(len(colour)), 0))
    rank = np.empty(len(colour), dtype=np.int64)
    rank[order] = np.arange(len(colour)) - begin
    return np.where(rank > 0, mixed(colour ^ hashes(rank)), colour)
