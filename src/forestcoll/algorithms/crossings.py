"""Sends from box to box, each over a NIC that is chosen, not only over the widest of the shortest paths.

If a member can use several NICs with equally few hops, as GPUs behind one PCIe switch can, the members of the box use
them in turn.
"""

from collections.abc import Mapping
from functools import cached_property

from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import Problem
from forestcoll.topology.graph.routes import Path


class Crossings:
    """The sends between the boxes of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def edge(self, source: int, target: int) -> Edge:
        """Return the send from a member to another, over the own NICs of both if they are in different boxes."""
        boxes = self._problem.boxes
        departure, arrival = self.departures.get(source), self.arrivals.get(target)
        if departure is None or arrival is None or boxes.of[source] == boxes.of[target]:
            return source, target
        return self.join(departure, arrival)

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
        """For each member with a NIC, its own path out of its box."""
        return _own(self._problem.boxes)

    @cached_property
    def arrivals(self) -> Mapping[int, Path]:
        """For each member with a NIC, its own path into its box."""
        return {member: path[::-1] for member, path in _own(self._problem.transposed_boxes).items()}


def _own(boxes: Boxes) -> dict[int, Path]:
    found = {}
    for box in boxes.members:
        for place, member in enumerate(box):
            exits = boxes.exits(member)
            if exits:
                found[member] = exits[place % len(exits)]
    return found
