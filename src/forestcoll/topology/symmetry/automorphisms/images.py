"""Symmetries found by trying images of a few nodes: individualisation and refinement.

Nodes are singled out, one after another, until refined colours are different for all nodes. A symmetry sends the
singled-out nodes to nodes that get the same colours when they are singled out in the same order, and sends every other
node to the node of its colour. A map that is found in this way is tested like all others.

The symmetries that make a large abelian group are translations. A translation moves all nodes of one colour alike: if
the image of one node is its neighbour, then so is the image of each. So images near a node are tried first, and the
images of other nodes must agree with the first one. Nodes that are not yet part of the map are tried before others, so
that lines are continued and not reversed. For each generator found before, the graph gets an arc from each node to its
image, so that every symmetry of the graph commutes with these generators.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.topology.symmetry.automorphisms.graph import ArcTable, ColouredGraph, Hashes, Indices, Mask
from forestcoll.topology.symmetry.automorphisms.group import Gathering, cycle_length
from forestcoll.topology.symmetry.automorphisms.refinement import Budget, Refinement, singled_out

_MOST_ROUNDS = 20_000
_LOCAL_ROUNDS = 3
"""How many refinement rounds are made while neighbours of the first node must be distinguished from other nodes."""
_MOST_STEPS = 160
_NEAREST = 24
_MOST_LEAVES = 8


@dataclass(frozen=True, eq=False, slots=True)
class _Step:
    """One node was singled out: the node, its old colour, the rounds made after it, and the sum of the new colours."""

    node: int
    colour: np.uint64
    rounds: int
    total: np.uint64


@dataclass(frozen=True, eq=False, slots=True)
class _Base:
    """The nodes singled out one after another, and the colours at the end."""

    steps: list[_Step]
    start: Hashes
    colour: Hashes
    order: Indices


@dataclass(frozen=True, eq=False, slots=True)
class _Branch:
    """Images were chosen for some nodes of the base: the resulting colours, and the candidates for the next node."""

    colour: Hashes
    choices: Iterator[int]
    images: list[int]


@dataclass(frozen=True, eq=False, slots=True)
class ImageSearch:
    """Extends `group`, a group of symmetries of `graph`, until its order is `bound` or nothing more is found."""

    graph: ColouredGraph
    budget: Budget
    group: Gathering
    bound: int

    def extend(self) -> None:
        """Add the symmetries that can be found."""
        for alike in (True, False):
            while self.group.order < self.bound and not self.budget.is_empty and self._grown(alike=alike):
                pass

    def _grown(self, *, alike: bool) -> bool:
        """Add the symmetries with the longest cycles, and return whether there was one."""
        start = self.group.first
        found = _Finder(self.graph, self.budget, self.group, start, alike=alike).symmetries()
        found.sort(key=lambda image: -cycle_length(image, start))
        taken = [self.group.offer(image) for image in found if self.group.order < self.bound]
        return any(taken)


class _Finder:
    """Finds symmetries of one graph that move one compute node and commute with a group."""

    def __init__(self, graph: ColouredGraph, budget: Budget, group: Gathering, start: int, *, alike: bool) -> None:
        self._group = group
        self._table = ArcTable(graph)
        graph = graph.with_arcs([each.image for each in group.generators])
        self._graph = graph
        self._budget = budget
        self._alike = alike
        self._refinement = Refinement(graph, budget)
        self._class = np.unique(graph.colour, return_inverse=True)[1].reshape(-1)
        self._base = self._based(start)

    def symmetries(self) -> list[Indices]:
        """Return at most one symmetry for each node nearby that the first node may move to; one node of each orbit."""
        found: list[Indices] = []
        orbits = self._group.orbits()
        first = self._base.steps[0].node
        reached = {int(orbits[first])}
        for node in self._targets(first):
            if self._budget.is_empty or len(found) >= _NEAREST:
                break
            if int(orbits[node]) in reached:
                continue
            reached.add(int(orbits[node]))
            if (image := next(filter(self._group.fitting, self._images(node)), None)) is not None:
                found.append(image)
                reached |= {int(orbits[each]) for each in _cycle(image, first)}
        return found

    def _targets(self, first: int) -> list[int]:
        """Return the nodes that `first` may move to, the nearest first."""
        others = np.flatnonzero(self._graph.colour == self._graph.colour[first])
        distance = self._distances(first)[others]
        targets = others[np.argsort(distance, kind="stable")][1:]
        if self._alike:
            targets = targets[:_NEAREST]
            if not self._class.any():  # all nodes are in one class: if some move to a neighbour, all do
                targets = targets[self._kinds(np.full_like(targets, first), targets).max(axis=0) >= 0]
        return list(targets.tolist())

    def _distances(self, first: int) -> Indices:
        distance = np.full(self._graph.nodes, self._graph.nodes)
        distance[first] = 0
        for step in range(1, self._graph.nodes):
            before = distance.copy()
            for source, target in ((self._graph.source, self._graph.target), (self._graph.target, self._graph.source)):
                reached = target[before[source] == step - 1]
                distance[reached] = np.minimum(distance[reached], step)
            enough = self._class[distance < self._graph.nodes] == self._class[first]
            if np.array_equal(before, distance) or enough.sum() > _NEAREST:
                break
        return distance

    def _based(self, first: int) -> _Base:
        """Return the nodes to single out, starting with `first`."""
        start = self._refinement.rounds(self._graph.colour, 1)
        near = np.unique(
            np.concatenate(
                [
                    self._graph.target[self._graph.source == first],
                    self._graph.source[self._graph.target == first],
                ]
            )
        )
        steps: list[_Step] = []
        colour, node = start, first
        while len(steps) < _MOST_STEPS:
            before = colour[node]
            colour = singled_out(colour, np.array([node]), len(steps))
            colour, rounds = self._refinement.settled(colour, _LOCAL_ROUNDS)
            following = _ambiguous(colour, near)
            if following is None:
                colour, more = self._refinement.settled(colour, _MOST_ROUNDS)
                rounds += more
                following = _ambiguous(colour, np.arange(len(colour)))
            steps.append(_Step(node, before, rounds, colour.sum()))
            if following is None:
                break
            node = following
        return _Base(steps, start, colour, np.argsort(colour, kind="stable"))

    def _images(self, node: int) -> Iterator[Indices]:
        """Yield symmetries that send the first node to `node`."""
        leaves = 0
        path = [_Branch(self._base.start, iter([node]), [])]
        while path and leaves < _MOST_LEAVES and not self._budget.is_empty:
            branch = path[-1]
            if (image := next(branch.choices, None)) is None:
                path.pop()
                continue
            images = [*branch.images, image]
            colour = self._after(branch.colour, images)
            if colour.sum() != self._base.steps[len(images) - 1].total:
                continue
            if len(images) < len(self._base.steps):
                path.append(_Branch(colour, iter(self._choices(colour, images)), images))
                continue
            leaves += 1
            if (found := self._leaf(colour)) is not None:
                yield found

    def _after(self, colour: Hashes, images: list[int]) -> Hashes:
        """Return the colours after the last of `images` is singled out too."""
        last = len(images) - 1
        return self._refinement.rounds(
            singled_out(colour, np.array(images[last:]), last), self._base.steps[last].rounds
        )

    def _choices(self, colour: Hashes, images: list[int]) -> list[int]:
        """Return the candidates for the image of the next node of the base, the likeliest first."""
        step = self._base.steps[len(images)]
        nodes = np.flatnonzero(colour == step.colour)
        if self._alike:
            nodes = self._moved_alike(step.node, nodes, images)
        touched = {*images, *(each.node for each in self._base.steps[: len(images)])}
        return sorted(nodes.tolist(), key=lambda node: (node in touched, node))

    def _moved_alike(self, node: int, candidates: Indices, images: list[int]) -> Indices:
        """Return the `candidates` joined to `node` as an earlier node of its class is joined to its image."""
        for step, image in zip(self._base.steps, images, strict=False):
            if self._class[step.node] == self._class[node]:
                wanted = self._kinds(np.array([step.node]), np.array([image]))
                kinds = self._kinds(np.full_like(candidates, node), candidates)
                agree: Mask = (kinds == wanted).all(axis=0)
                return candidates[agree]
        return candidates

    def _kinds(self, source: Indices, target: Indices) -> Indices:
        """Return the labels of the arcs in both directions, a column for each pair."""
        return np.array([self._table.labels(source, target), self._table.labels(target, source)])

    def _leaf(self, colour: Hashes) -> Indices | None:
        order = np.argsort(colour, kind="stable")
        image = np.empty_like(order)
        image[self._base.order] = order
        if not self._table.is_symmetry(image):
            return None
        if self._alike:
            nodes = np.arange(len(image))
            kinds = self._kinds(nodes, image)
            first = np.unique(self._class, return_index=True)[1]
            if not np.array_equal(kinds, kinds[:, first[self._class]]) or kinds.max() < 0:
                return None
        return image


def _ambiguous(colour: Hashes, among: Indices) -> int | None:
    """Return a node of `among` whose colour occurs more than once, as rarely as possible, or None."""
    _, group, counts = np.unique(colour, return_inverse=True, return_counts=True)
    sizes = counts[group.reshape(-1)][among]
    several = sizes > 1
    if not several.any():
        return None
    return int(among[several][np.lexsort((colour[among][several], sizes[several]))[0]])


def _cycle(image: Indices, start: int) -> list[int]:
    images = image.tolist()
    nodes, node = [start], images[start]
    while node != start:
        nodes.append(node)
        node = images[node]
    return nodes
