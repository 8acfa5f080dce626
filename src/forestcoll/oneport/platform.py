"""The platform of a series of broadcasts: the costs of links, and which links exclude each other (§2).

A busy link occupies ports. The `port_model` of the network says which ports a compute node has: one to send and one to
receive, only one of these two, or one for both (half-duplex). A link that occupies no port of a node is its own port.
Without a `port_model`, a node uses all its links at the same time, so every link is its own port. A switch has no ports
in any model.

Half-duplex nodes are supported if they can be divided into two sides with no link within a side. Then the two ports of
a link are on two sides, as sending and receiving ports are, and rounds exist in which every port does its work in time.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.proof.prices import Port, PortKind, end_ports, ports_of
from forestcoll.ranks import root_number
from forestcoll.topology import NodeId, Topology


@dataclass(frozen=True)
class Platform:
    """A network with a source from which every compute node can be reached. `Platform.of` makes one.

    Attributes:
        topology: the network.
        source: the number of the source.
        costs: the time of a message over each link (c), greater than 0.
        ports: the one or two ports that each link occupies during that time.
        order: for a DAG, all compute nodes with the source first: messages may only be sent from a node to a later
            node. An empty order has no such restriction.
    """

    topology: Topology
    source: int
    costs: tuple[Fraction, ...]
    ports: tuple[tuple[Port, ...], ...]
    order: tuple[int, ...] = ()

    @staticmethod
    def of(topology: Topology, source: NodeId, costs: Sequence[Fraction] | None = None) -> "Platform":
        """Return the platform of `topology` with the given source.

        Args:
            topology: the network, with any port model.
            source: the id of a compute node or, if no node has that id, its position among the compute nodes.
            costs: the time of a message over each link. The default is 1/bandwidth.

        Raises:
            InputError: the source is unknown or a switch, or a cost is 0 or less.
            NoSolutionError: the source cannot reach every compute node, or compute nodes with half-duplex ports form a
                cycle of odd length.
        """
        number = root_number(topology, source, role="source")
        if missed := _unreached(topology, number):
            names = ", ".join(shown(each) for each in topology.ids(missed[:3]))
            more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
            raise NoSolutionError(
                f"{topology.name}: source {shown(source)} cannot reach compute node{'s' * (len(missed) > 1)} "
                f"{names}{more}; add links on the way or choose another source"
            )
        each = tuple(1 / link.bandwidth for link in topology.links) if costs is None else tuple(costs)
        _check_costs(topology, each)
        _check_odd_cycles(topology)
        return Platform(topology, number, each, tuple(map(tuple, _ports(topology))))

    @property
    def has_node_ports(self) -> bool:
        """Whether compute nodes have ports, so that some of their links cannot be busy at the same time."""
        return self.sends_one_at_a_time or self.receives_one_at_a_time

    @property
    def sends_one_at_a_time(self) -> bool:
        """Whether a compute node sends over one link at a time."""
        return end_ports(self.topology).sending is not None

    @property
    def receives_one_at_a_time(self) -> bool:
        """Whether a compute node receives over one link at a time."""
        return end_ports(self.topology).receiving is not None

    def side(self, port: Port) -> int:
        """Return 0 or 1, such that no link occupies two ports of the same side.

        Sending ports are on side 0 and receiving ports on side 1. Ports for both are on the side of their node.
        """
        return self._sides[port.number] if port.kind is PortKind.BOTH else int(port.kind is PortKind.RECEIVE)

    @cached_property
    def _sides(self) -> list[int]:
        return _sides(self.topology)

    @cached_property
    def all_ports(self) -> tuple[Port, ...]:
        """All ports, each once, sorted."""
        return tuple(sorted({port for ports in self.ports for port in ports}))

    @cached_property
    def numbers(self) -> dict[tuple[int, int], int]:
        """The number of each link, by its source and target."""
        return {(link.source, link.target): number for number, link in enumerate(self.topology.links)}

    @property
    def destinations(self) -> tuple[int, ...]:
        """The numbers of all compute nodes except the source."""
        return tuple(node for node in self.topology.compute if node != self.source)

    def allows(self, source: int, target: int) -> bool:
        """Return whether compute node `source` may send messages to compute node `target`."""
        return not self.order or self._place[source] < self._place[target]

    @cached_property
    def _place(self) -> dict[int, int]:
        return {node: place for place, node in enumerate(self.order)}

    def links_of(self, route: Sequence[int]) -> Iterable[int]:
        """Yield the numbers of the links along a route."""
        return (self.numbers[ends] for ends in itertools.pairwise(route))


def _check_costs(topology: Topology, costs: Sequence[Fraction]) -> None:
    if len(costs) != len(topology.links):
        raise InputError(f"{topology.name}: {len(costs)} costs for {len(topology.links)} links; give one cost per link")
    for link, cost in zip(topology.links, costs, strict=True):
        if cost <= 0:
            one, other = topology.ids([link.source, link.target])
            raise InputError(
                f"{topology.name}: edge {shown(one)} -> {shown(other)}: cost {cost} must be greater than 0"
            )


def _ports(topology: Topology) -> Iterable[list[Port]]:
    for number in range(len(topology.links)):
        itself, *of_nodes = ports_of(topology, number)
        yield of_nodes or [itself]


def _check_odd_cycles(topology: Topology) -> None:
    """Check that half-duplex nodes can be divided into two sides, so that no link is within a side."""
    if end_ports(topology).sending is not PortKind.BOTH:
        return
    sides = _sides(topology)
    for link in topology.links:
        ends = link.source, link.target
        if all(topology.nodes[node].is_compute for node in ends) and sides[link.source] == sides[link.target]:
            one, other = topology.ids(ends)
            raise NoSolutionError(
                f"{topology.name}: link {shown(one)} -> {shown(other)} is on a cycle of an odd number of compute "
                "nodes, for which half-duplex ports are not supported; remove the link or choose another port model"
            )


def _sides(topology: Topology) -> list[int]:
    """Return a side, 0 or 1, of each node. If possible, no link between compute nodes has both ends on one side."""
    neighbours: list[list[int]] = [[] for _ in topology.nodes]
    for link in topology.links:
        if topology.nodes[link.source].is_compute and topology.nodes[link.target].is_compute:
            neighbours[link.source].append(link.target)
            neighbours[link.target].append(link.source)
    sides: dict[int, int] = {}
    for start in range(len(neighbours)):
        sides.setdefault(start, 0)
        frontier = [start]
        while frontier:
            node = frontier.pop()
            for neighbour in neighbours[node]:
                if neighbour not in sides:
                    sides[neighbour] = 1 - sides[node]
                    frontier.append(neighbour)
    return [sides[node] for node in range(len(neighbours))]


def _unreached(topology: Topology, source: int) -> list[int]:
    neighbours: list[list[int]] = [[] for _ in topology.nodes]
    for link in topology.links:
        neighbours[link.source].append(link.target)
    reached, frontier = {source}, [source]
    while frontier:
        for neighbour in neighbours[frontier.pop()]:
            if neighbour not in reached:
                reached.add(neighbour)
                frontier.append(neighbour)
    return [node for node in topology.compute if node not in reached]
