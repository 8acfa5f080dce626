"""A network seen as boxes: which compute nodes share a box, and over which links a box is left.

Compute nodes with the same attribute `box` are in one box. A switch is in a box if it has that attribute, or if all its
neighbours are in the box. A *door* is a link that leaves the box, such as that of a NIC to the fabric.
"""

from collections.abc import Mapping
from functools import cached_property

from forestcoll.topology import Topology


class Boxes:
    """The boxes of a network.

    Args:
        topology: the network.
        members: the numbers of the compute nodes that take part; others do not count.

    Attributes:
        of: for each node inside a box, the number of its box.
        members: for each box with a member, its members in ascending order.
    """

    def __init__(self, topology: Topology, members: tuple[int, ...]) -> None:
        self._topology = topology
        names: dict[object, int] = {}
        self.of: dict[int, int] = {}
        for number, node in enumerate(topology.nodes):
            if "box" in node.attributes:
                self.of[number] = names.setdefault(str(node.attributes["box"]), len(names))
        self._add_inner_switches()
        taking_part: dict[int, list[int]] = {}
        for member in members:
            if member in self.of:
                taking_part.setdefault(self.of[member], []).append(member)
        self.members: tuple[tuple[int, ...], ...] = tuple(tuple(each) for each in taking_part.values())
        self.is_complete = sum(map(len, self.members)) == len(members)

    def _add_inner_switches(self) -> None:
        """Add switches without the attribute whose neighbours are all in one box."""
        neighbours: dict[int, set[int]] = {switch: set() for switch in self._topology.switches if switch not in self.of}
        for link in self._topology.links:
            for one, other in ((link.source, link.target), (link.target, link.source)):
                if one in neighbours:
                    neighbours[one].add(other)
        changed = True
        while changed:
            changed = False
            for switch, around in neighbours.items():
                inside = {self.of.get(each) for each in around}
                if switch not in self.of and len(inside) == 1 and None not in inside:
                    self.of[switch] = self.of[min(around)]
                    changed = True

    def inside(self, node: int) -> frozenset[int]:
        """Return all nodes of the box of `node`."""
        return self._nodes[self.of[node]]

    @cached_property
    def _nodes(self) -> Mapping[int, frozenset[int]]:
        nodes: dict[int, set[int]] = {}
        for node, box in self.of.items():
            nodes.setdefault(box, set()).add(node)
        return {box: frozenset(each) for box, each in nodes.items()}

    def door(self, node: int) -> tuple[int, int] | None:
        """Return the link over which `node` leaves its box with the fewest hops, the widest; None if there is none."""
        return self._doors.get(node)

    @cached_property
    def _doors(self) -> Mapping[int, tuple[int, int]]:
        """Search from each member through the switches of its box, one hop at a time."""
        following: dict[int, list[tuple[int, int]]] = {}
        for link in sorted(self._topology.links, key=lambda each: (-each.bandwidth, each.source, each.target)):
            following.setdefault(link.source, []).append((link.source, link.target))
        found = {}
        for box in self.members:
            for member in box:
                door = self._search(member, following)
                if door is not None:
                    found[member] = door
        return found

    def _search(self, member: int, following: Mapping[int, list[tuple[int, int]]]) -> tuple[int, int] | None:
        level, seen = [member], {member}
        while level:
            links = [link for node in level for link in following.get(node, [])]
            for link in links:
                if self.of.get(link[1]) != self.of[member]:
                    return link
            level = [
                target for _, target in links if target not in seen and not self._topology.nodes[target].is_compute
            ]
            seen.update(level)
        return None
