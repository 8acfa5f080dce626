"""Symmetries that follow from the numbers of the compute nodes.

Most networks are numbered in a regular way: box by box, or line by line of a torus. The number of a compute node then
has digits, and a symmetry rotates or reverses one digit; the images of the switches follow from it. This method costs
little, but finds nothing in a network that is numbered at random.
"""

from collections.abc import Iterator

import numpy as np

from forestcoll.topology.symmetry.automorphisms.graph import ArcTable, ColouredGraph, Hashes, Indices
from forestcoll.topology.symmetry.automorphisms.group import divisors
from forestcoll.topology.symmetry.automorphisms.hashing import hashes
from forestcoll.topology.symmetry.automorphisms.refinement import Budget, Refinement

_MOST_ROUNDS = 64


def digit_symmetries(graph: ColouredGraph, budget: Budget) -> Iterator[Indices]:
    """Yield the symmetries of `graph` that rotate or reverse a digit of its compute nodes, long cycles first."""
    table = ArcTable(graph)
    switches = _Switches(graph, budget)
    compute = np.flatnonzero(graph.compute)
    colour = graph.colour[compute]
    for move in _moves(len(compute)):
        budget.spend(len(compute) + len(graph.source) // 8)
        if budget.is_empty:
            return
        if not np.array_equal(colour[move], colour):
            continue
        image = np.full(graph.nodes, -1)
        image[compute] = compute[move]
        if table.keeps_arcs(image, slice(256)) and switches.place(image) and table.is_symmetry(image):
            yield image


def _moves(count: int) -> Iterator[Indices]:
    numbers = np.arange(count)
    pairs = [(size, stride) for size in divisors(count)[1:] for stride in divisors(count // size)]
    for size, stride in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        digit = numbers // stride % size
        yield numbers + ((digit + 1) % size - digit) * stride
    for size, stride in pairs:
        if size % 2 == 0 and size > 2:
            digit = numbers // stride % size
            yield numbers + (size - 1 - 2 * digit) * stride


class _Switches:
    """Finds the images of switches when compute nodes move: neighbours of an image are images of neighbours."""

    def __init__(self, graph: ColouredGraph, budget: Budget) -> None:
        self._graph = graph
        self._switches = np.flatnonzero(~graph.compute)
        self._refinement = Refinement(graph, budget)
        self._start = np.where(graph.compute, hashes(np.arange(graph.nodes)), graph.colour)
        self._near = self._refinement.rounds(self._start, 1)
        self._far, more = self._refinement.settled(self._near, _MOST_ROUNDS)
        self._more = more
        self._order = self._sorted(self._far)

    def place(self, image: Indices) -> bool:
        """Fill in the images of switches in `image`, and return whether they could be found."""
        if not len(self._switches):
            return True
        compute = self._graph.compute
        start = self._start.copy()
        start[image[compute]] = self._start[compute]
        near = self._refinement.rounds(start, 1)
        if near[self._switches].sum() != self._near[self._switches].sum():
            return False
        far = self._refinement.rounds(near, self._more)
        order = self._sorted(far)
        image[self._order] = order
        return np.array_equal(self._far[self._order], far[order])

    def _sorted(self, colour: Hashes) -> Indices:
        return self._switches[np.argsort(colour[self._switches], kind="stable")]
