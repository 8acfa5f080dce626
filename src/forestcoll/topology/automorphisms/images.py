"""Symmetries found by trying where a few nodes may go: individualisation and refinement.

Some nodes are singled out, one after another, until refined colours tell all nodes apart. A symmetry sends these few
nodes to others that get the same colours when they are singled out in turn, and every other node to the one of its
colour. A map that was found so is tested, as all are.

The symmetries that make a large abelian group are translations. Such a symmetry moves all nodes of one colour alike:
if the image of one is its neighbour, so is the image of each. So those are tried first which move a node to one
nearby, and only those images of other nodes which agree with that; images that are no part of the map yet before
others, so that lines are followed on and not turned back. To the graph belongs an arc from each node to its image for
each generator found before: what is a symmetry still commutes with these.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.topology.automorphisms.graph import ArcTable, Graph, Hashes, Indices, Mask
from forestcoll.topology.automorphisms.group import Gathering, cycle_length
from forestcoll.topology.automorphisms.refinement import Purse, Refinement, singled_out

_MOST_ROUNDS = 20_000
_LOCAL_ROUNDS = 3
"""How many rounds are made as long as a neighbour of the first node is to be told from others."""
_MOST_STEPS = 160
_NEAREST = 24
_MOST_LEAVES = 8


@dataclass(frozen=True, eq=False, slots=True)
class _Step:
    """A node was singled out: which, its colour before, the rounds made after, and the sum of the colours then."""

    node: int
    colour: np.uint64
    rounds: int
    total: np.uint64


@dataclass(frozen=True, eq=False, slots=True)
class _Base:
    """The nodes singled out in turn, and the colours at the end."""

    steps: list[_Step]
    start: Hashes
    colour: Hashes
    order: Indices


@dataclass(frozen=True, eq=False, slots=True)
class _Branch:
    """Images were chosen for some nodes of the base: the colours then, and what to try for the next."""

    colour: Hashes
    choices: Iterator[int]
    images: list[int]


@dataclass(frozen=True, eq=False, slots=True)
class ImageSearch:
    """Adds to `group`, a group of symmetries of `graph`, until its order is `bound` or nothing more is found."""

    graph: Graph
    purse: Purse
    group: Gathering
    bound: int

    def extend(self) -> None:
        """Add what can be found."""
        for alike in (True, False):
            while self.group.order < self.bound and not self.purse.is_empty and self._grown(alike=alike):
                pass

    def _grown(self, *, alike: bool) -> bool:
        """Add the symmetries of the longest cycles, and return whether there was one."""
        start = int(np.argmax(self.graph.compute))
        found = _Finder(self.graph, self.purse, self.group, start, alike=alike).symmetries()
        found.sort(key=lambda image: -cycle_length(image, start))
        taken = [self.group.offer(image) for image in found if self.group.order < self.bound]
        return any(taken)


class _Finder:
    """Finds symmetries of one graph that move one compute node and commute with a group."""

    def __init__(self, graph: Graph, purse: Purse, group: Gathering, start: int, *, alike: bool) -> None:
        self._group = group
        self._table = ArcTable(graph)
        graph = graph.with_arcs([each.image for each in group.generators])
        self._graph = graph
        self._purse = purse
        self._alike = alike
        self._refinement = Refinement(graph, purse)
        self._class = np.unique(graph.colour, return_inverse=True)[1].reshape(-1)
        self._base = self._based(start)

    def symmetries(self) -> list[Indices]:
        """Return one symmetry, or none, for each node nearby that the first may go to; one node of each orbit."""
        found: list[Indices] = []
        orbits = self._group.orbits()
        first = self._base.steps[0].node
        reached = {int(orbits[first])}
        for node in self._targets(first):
            if self._purse.is_empty or len(found) >= _NEAREST:
                break
            if int(orbits[node]) in reached:
                continue
            reached.add(int(orbits[node]))
            if (image := next(filter(self._group.fitting, self._images(node)), None)) is not None:
                found.append(image)
                reached |= {int(orbits[each]) for each in _cycle(image, first)}
        return found

    def _targets(self, first: int) -> list[int]:
        """Return the nodes that `first` may go to, the nearest first."""
        others = np.flatnonzero(self._graph.colour == self._graph.colour[first])
        distance = self._distances(first)[others]
        targets = others[np.argsort(distance, kind="stable")][1:]
        if self._alike:
            targets = targets[:_NEAREST]
            if not self._class.any():  # all are of one class: some move to a neighbour, so all do
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
        """Return the nodes to single out, beginning with `first`."""
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
        while path and leaves < _MOST_LEAVES and not self._purse.is_empty:
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
        """Return the colours when the last of `images` is singled out too."""
        last = len(images) - 1
        return self._refinement.rounds(
            singled_out(colour, np.array(images[last:]), last), self._base.steps[last].rounds
        )

    def _choices(self, colour: Hashes, images: list[int]) -> list[int]:
        """Return what may be the image of the next node of the base, the likeliest first."""
        step = self._base.steps[len(images)]
        nodes = np.flatnonzero(colour == step.colour)
        if self._alike:
            nodes = self._moved_alike(step.node, nodes, images)
        touched = {*images, *(each.node for each in self._base.steps[: len(images)])}
        return sorted(nodes.tolist(), key=lambda node: (node in touched, node))

    def _moved_alike(self, node: int, candidates: Indices, images: list[int]) -> Indices:
        """Return those `candidates` that lie to `node` as the image of the first node of its class lies to that."""
        for step, image in zip(self._base.steps, images, strict=False):
            if self._class[step.node] == self._class[node]:
                wanted = self._kinds(np.array([step.node]), np.array([image]))
                kinds = self._kinds(np.full_like(candidates, node), candidates)
                agree: Mask = (kinds == wanted).all(axis=0)
                return candidates[agree]
        return candidates

    def _kinds(self, source: Indices, target: Indices) -> Indices:
        """Return the labels of the arcs there and back, a column for each pair."""
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
    """Return a node whose colour others have too, few others but one at least; one of `among`, or None."""
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
