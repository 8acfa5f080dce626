"""The structure of a network that a picture shows: its groups, and which nodes have the same surroundings.

A group is a set of nodes that a frame shows: the nodes with the same attribute `box` or, if no node has a box, the same
attribute `group`; otherwise the compute nodes at the same switch, if each compute node is at one switch only. A switch
whose neighbours are all in one group belongs to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.presentation.pictures.layout.labels import common_prefix, fitted, text_width
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import hops

_MOST_ROUNDS = 16


@dataclass(frozen=True)
class FramedNodes:
    """Nodes that a frame shows.

    Attributes:
        name: the name of the group, such as `box 0`.
        nodes: the numbers of its nodes, in ascending order.
    """

    name: str
    nodes: tuple[int, ...]


class Structure:
    """The groups of a network and the equal parts among them.

    Args:
        topology: the network.
        is_compact: whether marks of compute nodes are small and show only the number at the end of an id.
    """

    def __init__(self, topology: Topology, *, is_compact: bool = False) -> None:
        self.topology = topology
        self.is_compact = is_compact

    @cached_property
    def prefix(self) -> str:
        """The common beginning of all ids."""
        return common_prefix([str(node.id) for node in self.topology.nodes])

    @property
    def node_width(self) -> float:
        """The width of the mark of a compute node."""
        return 22.0 if self.is_compact else 38.0

    @cached_property
    def has_long_names(self) -> bool:
        """Whether the ids of some nodes are too long for their marks, also without their common beginning."""
        names = (str(node.id).removeprefix(self.prefix) for node in self.topology.nodes)
        return any(text_width(name) > self.node_width - 2 for name in names)

    def label(self, name: str, width: float, *, is_long: bool = False) -> str:
        """Return the text on the mark of a compute node of this width: its name, or the number at its end."""
        digits = name[len(name.rstrip("0123456789")) :]
        is_long = is_long or self.is_compact or text_width(name) > width
        return fitted(digits if is_long and digits else name, width)

    @cached_property
    def neighbours(self) -> tuple[Mapping[int, Fraction], ...]:
        """For each node, its neighbours with the greater bandwidth of the two directions."""
        found: list[dict[int, Fraction]] = [{} for _ in self.topology.nodes]
        for link in self.topology.links:
            for one, other in ((link.source, link.target), (link.target, link.source)):
                found[one][other] = max(link.bandwidth, found[one].get(other, Fraction(0)))
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[FramedNodes, ...]:
        """The groups, in the order of their first nodes."""
        of_node = self._named("box") or self._named("group") or self._at_switches()
        self._add_inner_switches(of_node)
        members: dict[str, list[int]] = {}
        for node in sorted(of_node):
            members.setdefault(of_node[node], []).append(node)
        return tuple(FramedNodes(name, tuple(nodes)) for name, nodes in members.items())

    @cached_property
    def group_of(self) -> Mapping[int, int]:
        """For each node of a group, the number of the group."""
        return {node: number for number, group in enumerate(self.groups) for node in group.nodes}

    def _named(self, key: str) -> dict[int, str]:
        nodes = enumerate(self.topology.nodes)
        return {number: f"{key} {node.attributes[key]}" for number, node in nodes if key in node.attributes}

    def _at_switches(self) -> dict[int, str]:
        found = {}
        for node in self.topology.compute:
            around = self.neighbours[node]
            if len(around) != 1 or self.topology.nodes[min(around)].is_compute:
                return {}
            found[node] = f"at {self.topology.nodes[min(around)].id}"
        return found if len(set(found.values())) > 1 else {}

    def _add_inner_switches(self, of_node: dict[int, str]) -> None:
        """Add switches to the group that all their neighbours are in, unless the group is named after the switch."""
        added = True
        while added:
            added = False
            for switch in self.topology.switches:
                around = {of_node.get(node) for node in self.neighbours[switch]}
                group = next(iter(around)) if len(around) == 1 else None
                if switch not in of_node and group is not None and not group.startswith("at "):
                    of_node[switch] = group
                    added = True

    @cached_property
    def colours(self) -> tuple[int, ...]:
        """For each node, a number that is equal for nodes with the same surroundings (colour refinement)."""
        topology = self.topology
        keys: list[object] = [(node.is_compute, node.multicast, node.aggregation) for node in topology.nodes]
        colours = _numbered([(key, number in self.group_of) for number, key in enumerate(keys)])
        for _ in range(_MOST_ROUNDS):
            refined = _numbered(
                [
                    (colours[node], tuple(sorted((colours[other], width) for other, width in around.items())))
                    for node, around in enumerate(self.neighbours)
                ]
            )
            if len(set(refined)) == len(set(colours)):
                break
            colours = refined
        return colours

    def group_colour(self, group: FramedNodes) -> tuple[int, ...]:
        """Return the colours of the nodes of a group: groups of equal structure have the same."""
        return tuple(sorted(self.colours[node] for node in group.nodes))

    @cached_property
    def levels(self) -> Mapping[int, int]:
        """For each switch outside the groups, its number of hops from the nearest group or compute node."""
        outer = dict.fromkeys(switch for switch in self.topology.switches if switch not in self.group_of)
        near = [switch for switch in outer if not set(self.neighbours[switch]).issubset(outer)]
        found = hops(near, lambda switch: [other for other in self.neighbours[switch] if other in outer])
        return {switch: 1 + found.get(switch, 0) for switch in outer}


def _numbered(keys: list[object]) -> tuple[int, ...]:
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)
