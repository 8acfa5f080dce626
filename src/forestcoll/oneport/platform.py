"""The platform of a series of broadcasts: the costs of links, and which links exclude each other (§2).

A busy link occupies ports. In the one-port model a compute node has one port to send and one port to receive. If the
network has no `port_model`, a node uses all its links at the same time. Then each link is its own port, and all
computations with ports stay valid. A switch has no ports in either model.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.proof.prices import Port, PortKind
from forestcoll.ranks import root_number
from forestcoll.topology import NodeId, Topology

ONE_PORT = "one-port"


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
            topology: the network, one-port or not.
            source: the id of a compute node or, if no node has that id, its position among the compute nodes.
            costs: the time of a message over each link. The default is 1/bandwidth.

        Raises:
            InputError: the source is unknown or a switch, or a cost is 0 or less.
            NoSolutionError: the source cannot reach every compute node.
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
        return Platform(topology, number, each, tuple(map(tuple, _ports(topology))))

    @property
    def is_one_port(self) -> bool:
        """Whether a compute node sends over one link at a time and receives over one link at a time."""
        return self.topology.port_model == ONE_PORT

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
    one_port = topology.port_model == ONE_PORT
    for number, link in enumerate(topology.links):
        found = []
        if one_port and topology.nodes[link.source].is_compute:
            found.append(Port(PortKind.SEND, link.source))
        if one_port and topology.nodes[link.target].is_compute:
            found.append(Port(PortKind.RECEIVE, link.target))
        yield found or [Port(PortKind.LINK, number)]


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
