"""A network seen as boxes: which compute nodes share a box, and over which paths a box is left.

`topology/graph/boxes.py` defines which nodes are in a box. An *exit* is a path out of the box, such as that over
a NIC to the fabric.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.graph.routes import Path


class Boxes:
    """The boxes of a network.

    Args:
        topology: the network.
        members: the numbers of the compute nodes that take part; others do not count.
        order: the places of the boxes in the order in which algorithms visit them; None for ascending. It holds if all
            members are in boxes.

    Attributes:
        of: for each node inside a box, the number of its box.
        members: for each box with a member, its members in ascending order.
    """

    def __init__(self, topology: Topology, members: tuple[int, ...], order: tuple[int, ...] | None = None) -> None:
        self._topology = topology
        self.of: dict[int, int] = box_numbers(topology)
        taking_part: dict[int, list[int]] = {}
        for member in members:
            if member in self.of:
                taking_part.setdefault(self.of[member], []).append(member)
        found = [tuple(each) for each in taking_part.values()]
        self.is_complete = sum(map(len, found)) == len(members)
        places = range(len(found)) if order is None or not self.is_complete else order
        self.members: tuple[tuple[int, ...], ...] = tuple(found[place] for place in places)

    def inside(self, node: int) -> frozenset[int]:
        """Return all nodes of the box of `node`."""
        return self._nodes[self.of[node]]

    @cached_property
    def _nodes(self) -> Mapping[int, frozenset[int]]:
        nodes: dict[int, set[int]] = {}
        for node, box in self.of.items():
            nodes.setdefault(box, set()).add(node)
        return {box: frozenset(each) for box, each in nodes.items()}

    def exits(self, node: int) -> tuple[Path, ...]:
        """Return the paths with the fewest hops from `node` through switches to a node outside its box.

        The paths over the widest links come first. There are none if only other members have links to the outside.
        """
        return self._exits.get(node, ())

    @cached_property
    def _exits(self) -> Mapping[int, tuple[Path, ...]]:
        widths, targets = self._topology.bandwidths, self._topology.targets
        following = [sorted(each, key=lambda end: -widths[node, end]) for node, each in enumerate(targets)]
        return {member: self._search(member, following) for box in self.members for member in box}

    def _search(self, member: int, following: Sequence[Sequence[int]]) -> tuple[Path, ...]:
        """Search from `member` through the switches of its box, one hop at a time."""
        level: list[Path] = [(member,)]
        seen = {member}
        while level:
            paths = [(*path, target) for path in level for target in following[path[-1]]]
            outside = tuple(path for path in paths if self.of.get(path[-1]) != self.of[member])
            if outside:
                return outside
            level = []
            for path in paths:
                if path[-1] not in seen and not self._topology.nodes[path[-1]].is_compute:
                    seen.add(path[-1])
                    level.append(path)
        return ()
