"""The group of a connected graph that cannot be split, such as a torus, or boxes joined by rails.

Three methods are tried, the cheapest first. Each extends the group that the earlier ones found, until the group is as
large as the sizes of the classes of compute nodes allow:

1. the digits of the numbering (`digits`);
2. the switches of one colour are fixed, for one colour after another; the rest can often be split then;
3. nodes are singled out, and images are tried for them (`images`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from forestcoll.topology.symmetry.automorphisms.digits import digit_symmetries
from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Indices, components
from forestcoll.topology.symmetry.automorphisms.group import Gathering, Generator, orbit_count, steps_from
from forestcoll.topology.symmetry.automorphisms.images import ImageSearch
from forestcoll.topology.symmetry.automorphisms.refinement import Budget, singled_out

_MOST_HELD = 8
"""For how many colours of switches the switches are fixed."""

_FEW_ORBITS = 64
"""If a group leaves more orbits of compute nodes, images are also tried for a group that moves some of them only."""


@dataclass(frozen=True, eq=False, slots=True)
class ConnectedSearch:
    """Finds a group of one graph.

    Attributes:
        graph: connected, with refined colours.
        budget: limits the work.
        solve: finds the group of any graph.
        bound: the order of every group divides this number.
    """

    graph: ColouredGraph
    budget: Budget
    solve: Callable[[ColouredGraph, Budget], list[Generator]]
    bound: int

    def group(self) -> list[Generator]:
        """Return commuting symmetries whose products act freely on the compute nodes."""
        numbered = self._gathered(digit_symmetries(self.graph, self.budget))
        if numbered.order == self.bound:
            return numbered.generators
        starts = [numbered.generators, *self._held()]
        everything = [image for start in starts for image in start]
        candidates = [self._gathered(each.image for each in [*start, *everything]) for start in starts]
        best = max(candidates, key=lambda group: group.order)
        if best.order < self.bound:
            ImageSearch(self.graph, self.budget, best, self.bound).extend()
        return best.generators

    def fewest_orbits(self) -> list[Generator]:
        """Return commuting symmetries that may leave compute nodes in place, with the fewest orbits of compute nodes.

        If there is no group that moves every compute node, often one is found when switches of one colour are fixed, or
        when only the compute nodes of the most common colour must move, as in a torus with a failed link.
        """
        found = [self.group()] if self.bound > 1 else [[]]
        found += (self.solve(held, self.budget) for _, held in self._held_graphs())
        best = min(found, key=self._orbit_count)
        if self._orbit_count(best) <= _FEW_ORBITS:
            return best
        return min(best, self._moving_most_common(), key=self._orbit_count)

    def _orbit_count(self, group: Sequence[Generator]) -> int:
        return orbit_count(group, self.graph.compute)

    def _moving_most_common(self) -> list[Generator]:
        """Return commuting symmetries whose products act freely on the compute nodes of the most common colour."""
        colours, counts = np.unique(self.graph.colour[self.graph.compute], return_counts=True)
        group = Gathering(self.graph.compute & (self.graph.colour == colours[np.argmax(counts)]))
        ImageSearch(self.graph, self.budget, group, int(counts.max())).extend()
        return group.generators

    def _gathered(self, images: Iterable[Indices]) -> Gathering:
        group = Gathering(self.graph.compute)
        for image in images:
            group.offer(image)
            if group.order == self.bound:
                break
        return group

    def _held(self) -> Iterator[list[Generator]]:
        """Yield the groups that fix all switches of one colour, each with the symmetries that commute with it."""
        for nodes, held in self._held_graphs():
            if inner := self.solve(held, self.budget):
                yield [*inner, *self._around(nodes, inner)]

    def _held_graphs(self) -> Iterator[tuple[Indices, ColouredGraph]]:
        """Yield the switches of one colour, and the graph with a colour of its own for each of them."""
        switches = np.flatnonzero(~self.graph.compute)
        colours, sizes = np.unique(self.graph.colour[switches], return_counts=True)
        order = np.argsort(sizes, kind="stable")
        several = [colours[number] for number in order if sizes[number] > 1]
        for colour in several[:_MOST_HELD]:
            if self.budget.is_empty:
                return
            nodes = switches[self.graph.colour[switches] == colour]
            yield nodes, self.graph.coloured(singled_out(self.graph.colour, nodes, nodes + 1))

    def _around(self, held: Indices, inner: Sequence[Generator]) -> list[Generator]:
        """Return symmetries that commute with `inner`, which fixes the switches `held`.

        `inner` sends each piece that hangs on these switches to the next one. The pieces can be put in any order. Each
        order gives other symmetries, and few of them have short cycles. So one order is chosen: the pieces are numbered
        in the order in which `inner` moves them.
        """
        number = self._numbered(held, inner)
        number = self._numbered(held, inner)
        if not number.any():
            return []
        graph = self.graph.with_arcs([each.image for each in inner])
        return self.solve(graph.coloured(singled_out(graph.colour, np.arange(graph.nodes), number)), self.budget)

    def _numbered(self, held: Indices, inner: Sequence[Generator]) -> Indices:
        """Return, for each node, a number for the powers of `inner` that move the first piece of an orbit to its."""
        free = np.ones(self.graph.nodes, dtype=np.bool_)
        free[held] = False
        loose = free[self.graph.source] & free[self.graph.target]
        hanging = replace(self.graph, source=self.graph.source[loose], target=self.graph.target[loose])
        moved = hanging.with_arcs([each.image for each in inner])
        piece = components(self.graph.nodes, hanging.source, hanging.target)
        orbit = components(self.graph.nodes, moved.source, moved.target)
        return steps_from(piece == _lowest(piece, orbit), inner)


def _lowest(piece: Indices, orbit: Indices) -> Indices:
    """Return, for each node, the lowest number of a piece in its orbit."""
    lowest = np.full(orbit.max() + 1, len(piece))
    np.minimum.at(lowest, orbit, piece)
    return lowest[orbit]
