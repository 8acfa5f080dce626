"""Sends from box to box, each over a NIC that is chosen, not only over the widest of the shortest paths.

If members can use several NICs with equally few hops, as GPUs behind one PCIe switch can, they use them in turn. If
there are more NICs than such members, each has several *turns*: its first NIC, its second one, and so on.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import lcm

from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import Problem
from forestcoll.topology.graph.routes import Path


class Crossings:
    """The sends between the boxes of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def edge(self, source: int, target: int, turn: int = 0) -> Edge:
        """Return the send from a member to another, over the own NICs of both if they are in different boxes."""
        boxes = self._problem.boxes
        leaving, entering = self.leaving.get(source), self.entering.get(target)
        if leaving is None or entering is None or boxes.of[source] == boxes.of[target]:
            return source, target
        return self.join(leaving[turn % len(leaving)], entering[turn % len(entering)])

    def edges(self, source: int, target: int) -> list[Edge]:
        """Return the sends, of equal parts, from a member to another, over all own NICs of both."""
        turns = lcm(len(self.leaving.get(source, ((),))), len(self.entering.get(target, ((),))))
        return [self.edge(source, target, turn) for turn in range(turns)]

    def join(self, departure: Path, arrival: Path) -> Edge:
        """Return the send along `departure` out of a box and along `arrival` into another box."""
        plain = departure[0], arrival[-1]
        one, other = departure[-1], arrival[0]
        nodes = self._problem.topology.nodes
        if nodes[one].is_compute or nodes[other].is_compute:
            return plain
        middle = (one,) if one == other else self._problem.routes.find(one, other)
        path = plain if middle is None else (*departure[:-1], *middle, *arrival[1:])
        return path if len(set(path)) == len(path) else plain

    @cached_property
    def departures(self) -> Mapping[int, Path]:
        """For each member with a NIC, its first path out of its box."""
        return {member: paths[0] for member, paths in self.leaving.items()}

    @cached_property
    def arrivals(self) -> Mapping[int, Path]:
        """For each member with a NIC, its first path into its box."""
        return {member: paths[0] for member, paths in self.entering.items()}

    @cached_property
    def leaving(self) -> Mapping[int, tuple[Path, ...]]:
        """For each member with a NIC, its paths out of its box, one for each turn."""
        return _own(self._problem.boxes)

    @cached_property
    def entering(self) -> Mapping[int, tuple[Path, ...]]:
        """For each member with a NIC, its paths into its box, one for each turn."""
        found = _own(self._problem.transposed_boxes)
        return {member: tuple(path[::-1] for path in paths) for member, paths in found.items()}


def _own(boxes: Boxes) -> dict[int, tuple[Path, ...]]:
    found = {}
    for box in boxes.members:
        exits = {member: boxes.exits(member) for member in box if boxes.exits(member)}
        sharing = Counter(_doors(paths) for paths in exits.values())
        for place, member in enumerate(box):
            if member in exits:
                found[member] = _share(exits[member], place, sharing[_doors(exits[member])])
    return found


def _doors(paths: tuple[Path, ...]) -> frozenset[Path]:
    """Return the last links of paths out of a box: the NICs that they use."""
    return frozenset(path[-2:] for path in paths)


def _share(paths: tuple[Path, ...], place: int, members: int) -> tuple[Path, ...]:
    """Return the paths of a member if several members use the same NICs; all paths if they cannot be divided."""
    count = len(paths)
    if count <= members:
        return (paths[place % count],)
    step = members if count % members == 0 else 1
    return tuple(paths[(place + turn * step) % count] for turn in range(count // step))
