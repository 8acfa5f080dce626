"""Colour refinement: nodes with different neighbourhoods get different colours, until nothing changes.

The next colour of a node is a hash of its own colour and the sum of its neighbours' colours. Each neighbour's colour is
multiplied by a factor for the label and the direction of the arc. The result does not depend on the numbers of the
nodes, so equal colours after the same number of rounds mean the same in any two graphs. The cost of a round is
proportional to the number of arcs.
"""

import numpy as np

from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Hashes, Indices
from forestcoll.topology.symmetry.automorphisms.hashing import hashes, mixed

_ROUND_COST = 20_000
"""The fixed cost of a round in addition to its arcs and nodes, in arcs."""

_TWIN_LABELS = 4


class Budget:
    """The work that may still be done, counted in visited arcs; when it is empty, a search returns what it has."""

    def __init__(self, work: int) -> None:
        self._left = work

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is left."""
        return self._left <= 0

    def spend(self, work: int) -> None:
        """Subtract `work`."""
        self._left -= work


class Refinement:
    """Refines colours of one graph; a search may start from the colours of the graph itself."""

    def __init__(self, graph: ColouredGraph, budget: Budget) -> None:
        self._budget = budget
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
        """Return `colour` after `count` rounds, or fewer if the budget is empty."""
        for _ in range(count):
            if self._budget.is_empty:
                break
            colour = self._round(colour)
        return colour

    def _round(self, colour: Hashes) -> Hashes:
        self._budget.spend(self._cost)
        refined = mixed(colour)
        if len(self._starts):
            refined[self._owners] += np.add.reduceat(colour[self._neighbour] * self._factor, self._starts)
        return mixed(refined)

    def with_twins_ranked(self, colour: Hashes) -> Hashes:
        """Return `colour` with different colours for twins: nodes that can be exchanged while all others stay in place.

        Twins are distinguished by their numbers; which one gets which colour makes no difference. Twins that are joined
        to each other are found only for the most common labels.
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
        """Return `colour` after rounds until one splits no class, but at most `at_most`, and the number of rounds."""
        classes, done = class_count(colour), 0
        while done < at_most and not self._budget.is_empty:
            colour, done = self._round(colour), done + 1
            before, classes = classes, class_count(colour)
            if classes in (before, len(colour)):
                break
        return colour, done


def class_count(colour: Hashes) -> int:
    """Return the number of different colours."""
    ordered = np.sort(colour)  # np.unique would import numpy.ma
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def singled_out(colour: Hashes, nodes: Indices, mark: int | Indices) -> Hashes:
    """Return `colour` with new colours for `nodes`, which depend on `mark`."""
    changed = colour.copy()
    changed[nodes] = mixed(colour[nodes] ^ hashes(np.atleast_1d(mark)))
    return changed


def _ranked(colour: Hashes, around: Hashes) -> Hashes:
    """Return `colour` with new colours for all but the first of the nodes that agree in it and in `around`."""
    order = np.lexsort((around, colour))
    fresh = np.ones(len(colour), dtype=np.bool_)
    fresh[1:] = (np.diff(colour[order]) != 0) | (np.diff(around[order]) != 0)
    begin = np.maximum.accumulate(np.where(fresh, np.arange(len(colour)), 0))
    rank = np.empty(len(colour), dtype=np.int64)
    rank[order] = np.arange(len(colour)) - begin
    return np.where(rank > 0, mixed(colour ^ hashes(rank)), colour)
