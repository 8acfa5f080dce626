"""The commands that make an emulated network: `ip`, `tc` and `bridge` read them in batches.

Each compute node and each switch has a network namespace. A link is a veth pair; each end has an HTB class with the
rate of its direction. A switch is a bridge. Its ports neither learn nor flood: which port leads to which address is
fixed, so loops between switches do no harm, and no packet but those of the ranks crosses a link.

A rank has one address for each link and one of its own, on the device `main`. Packets from an address of a link leave
by that link (a rule and a table for each link). Packets to the main address of another rank take the way of `paths`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.base.errors import InputError
from forestcoll.runtime.emulation.paths import RoutingGraph, Way, ports, ways
from forestcoll.runtime.emulation.rates import LinkChange
from forestcoll.topology import Topology

MOST_NAMESPACES = 512
"""The most compute nodes and switches that are emulated."""

MAIN = "main"
"""The device that has the main address of a rank."""

_MTU = 9000
_BURST = 2**14
_QUEUE = 1000
_LEAST_RETURN = Fraction(1, 20)
"""The rate for acknowledgements on a link of one direction, as a fraction of the rate of its data."""


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link, at a compute node.

    Attributes:
        number: from 0, over all compute nodes.
        node: the number of the compute node.
        neighbour: the number of the node at the other end.
    """

    number: int
    node: int
    neighbour: int

    @property
    def device(self) -> str:
        """The name of the device in the namespace of the compute node."""
        return device_to(self.neighbour)

    @property
    def address(self) -> str:
        """The IP address."""
        return f"10.65.{(self.number + 1) // 256}.{(self.number + 1) % 256}"

    @property
    def hardware_address(self) -> str:
        """The Ethernet address."""
        return f"02:fc:00:{self.number // 65536:02x}:{self.number // 256 % 256:02x}:{self.number % 256:02x}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Commands for one program in one namespace.

    Attributes:
        program: `ip`, `tc` or `bridge`.
        namespace: the name of the namespace; None for none.
        lines: the commands.
    """

    program: str
    namespace: str | None
    lines: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The command line of the program; it reads `lines` from its standard input."""
        inside = [] if self.namespace is None else ["-n", self.namespace]
        return [self.program, *inside, "-batch", "-"]


def device_to(neighbour: int) -> str:
    """Return the name of the device of the link to node number `neighbour`."""
    return f"to{neighbour}"


class EmulatedNetwork:
    """An emulated network: names, addresses and commands.

    Args:
        topology: the network with the rates of the emulation, in megabits a second.

    Raises:
        InputError: the network is too large, or has one port for each node.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.runtime.emulation.rates import emulated
        >>> network = EmulatedNetwork(emulated(build_topology("ring:nodes=3"), "100Mbit=1"))
        >>> network.main_address(0), network.links_of(0)
        ('10.64.0.1', {'1': '10.65.0.1', '2': '10.65.0.2'})
    """

    def __init__(self, topology: Topology) -> None:
        if len(topology.nodes) > MOST_NAMESPACES:
            count = len(topology.nodes)
            raise InputError(f"{topology.name}: {count} nodes; at most {MOST_NAMESPACES} can be emulated on a machine")
        if topology.port_model is not None:
            raise InputError(f"{topology.name}: nodes have one port, which cannot be emulated; leave port_model out")
        self.topology = topology
        self._graph = RoutingGraph(topology)

    @cached_property
    def nics(self) -> tuple[LinkEnd, ...]:
        """The ends of links at compute nodes, node by node."""
        ends = [(node, other) for node in self.topology.compute for other in self._graph.neighbours[node]]
        return tuple(LinkEnd(number, *each) for number, each in enumerate(ends))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The name of each node's namespace: `rank0`, …, and `switch8`, … with the number of the node."""
        ranks = {node: rank for rank, node in enumerate(self.topology.compute)}
        return tuple(
            f"rank{ranks[node]}" if node in ranks else f"switch{node}" for node in range(len(self.topology.nodes))
        )

    @cached_property
    def bits(self) -> Mapping[tuple[int, int], int]:
        """The rate of each direction of each link in bits a second, that for acknowledgements included."""
        found: dict[tuple[int, int], int] = {}
        for source, others in enumerate(self._graph.neighbours):
            for target in others:
                rate = self._graph.bandwidth(source, target)
                found[source, target] = round((rate or self._graph.bandwidth(target, source) * _LEAST_RETURN) * 10**6)
        return found

    @property
    def most_traffic(self) -> int:
        """The bits a second that all ranks together can send."""
        return sum(rate for (source, _), rate in self.bits.items() if source in self._graph.compute)

    def main_address(self, rank: int) -> str:
        """Return the main address of a rank."""
        return f"10.64.{(rank + 1) // 256}.{(rank + 1) % 256}"

    def links_of(self, rank: int) -> dict[str, str]:
        """Return the address of each link of a rank, by the id of the node that the link leads to."""
        node = self.topology.compute[rank]
        return {str(self.topology.nodes[nic.neighbour].id): nic.address for nic in self.nics if nic.node == node}

    def creation(self) -> Batch:
        """Return the commands that make the namespaces."""
        return Batch("ip", None, tuple(f"netns add {name}" for name in self.namespaces))

    def wiring(self) -> Batch:
        """Return the commands that make the links."""
        macs = {(nic.node, nic.neighbour): f" address {nic.hardware_address}" for nic in self.nics}
        lines = []
        for one, other in self.bits:
            if one < other:
                ends = [self._end(one, other, macs), self._end(other, one, macs)]
                lines.append(f"link add {ends[0]} type veth peer {ends[1]}")
        return Batch("ip", None, tuple(lines))

    def _end(self, node: int, other: int, macs: Mapping[tuple[int, int], str]) -> str:
        mac = macs.get((node, other), "")
        return f"name {device_to(other)}{mac} mtu {_MTU} netns {self.namespaces[node]}"

    def addressing(self) -> list[Batch]:
        """Return the commands that give each rank its addresses, neighbours and routes."""
        rank_of = {node: rank for rank, node in enumerate(self.topology.compute)}
        routes = self._routes(rank_of)
        nics: dict[int, list[LinkEnd]] = {node: [] for node in rank_of}
        for nic in self.nics:
            nics[nic.node].append(nic)
        domains = self._domains()
        return [
            Batch("ip", self.namespaces[node], tuple(self._address_lines(rank, nics[node], domains, routes[node])))
            for node, rank in rank_of.items()
        ]

    def _address_lines(
        self, rank: int, nics: list[LinkEnd], domains: Mapping[int, list[LinkEnd]], routes: list[str]
    ) -> Iterator[str]:
        yield "link set lo up"
        yield f"link add {MAIN} type bridge"
        yield f"link set {MAIN} mtu {_MTU} up"
        yield f"address add {self.main_address(rank)}/32 dev {MAIN}"
        for place, nic in enumerate(nics):
            yield f"link set {nic.device} up"
            yield f"address add {nic.address}/32 dev {nic.device}"
            yield f"rule add from {nic.address} lookup {1000 + place}"
            yield f"route add default dev {nic.device} table {1000 + place}"
            for other in domains[nic.number]:
                yield f"neighbour add {other.address} lladdr {other.hardware_address} dev {nic.device} nud permanent"
        yield from routes

    def _domains(self) -> dict[int, list[LinkEnd]]:
        """Return of each NIC those that it reaches without a compute node on the way."""
        reached: dict[int, frozenset[int]] = {}
        found: dict[int, list[LinkEnd]] = {}
        for nic in self.nics:
            end = nic.neighbour
            if end in self._graph.compute:
                found[nic.number] = [each for each in self.nics if (each.node, each.neighbour) == (end, nic.node)]
                continue
            if end not in reached:
                reached[end] = frozenset(self._graph.costs_to(end, self._graph.switches))
            found[nic.number] = [each for each in self.nics if each.neighbour in reached[end] and each != nic]
        return found

    def _routes(self, rank_of: Mapping[int, int]) -> dict[int, list[str]]:
        """Return of each compute node its routes to the main addresses of the others."""
        lines: dict[int, list[str]] = {node: [] for node in rank_of}
        addresses = {(nic.node, nic.neighbour): nic.address for nic in self.nics}
        for target, rank in rank_of.items():
            for node, way in ways(self._graph, target).items():
                lines[node].append(self._route(rank_of[node], rank, way, addresses))
        return lines

    def _route(self, rank: int, target: int, way: Way, addresses: Mapping[tuple[int, int], str]) -> str:
        by = f"via {addresses[way.rank, way.enters]} dev {device_to(way.leaves)} onlink"
        return f"route add {self.main_address(target)}/32 {by} src {self.main_address(rank)}"

    def switching(self) -> list[Batch]:
        """Return the commands that make each switch a bridge."""
        return [Batch("ip", self.namespaces[node], tuple(self._bridge_lines(node))) for node in self.topology.switches]

    def _bridge_lines(self, node: int) -> Iterator[str]:
        yield f"link add {MAIN} type bridge stp_state 0 mcast_snooping 0"
        yield f"link set {MAIN} mtu {_MTU} up"
        for other in self._graph.neighbours[node]:
            yield f"link set {device_to(other)} master {MAIN} up"
            quiet = "learning off flood off mcast_flood off bcast_flood off"
            yield f"link set {device_to(other)} type bridge_slave {quiet}"

    def forwarding(self) -> list[Batch]:
        """Return the commands that tell each switch which port leads to which address."""
        lines: dict[int, list[str]] = {node: [] for node in self.topology.switches}
        tables: dict[int, dict[int, list[int]]] = {}
        for nic in self.nics:
            if nic.neighbour in lines:
                if nic.neighbour not in tables:
                    tables[nic.neighbour] = ports(self._graph, nic.neighbour)
                lines[nic.neighbour].append(_entry(nic, nic.node))
                for switch, options in tables[nic.neighbour].items():
                    lines[switch].append(_entry(nic, options[nic.number % len(options)]))
        return [Batch("bridge", self.namespaces[node], tuple(each)) for node, each in lines.items()]

    def shaping(self) -> list[Batch]:
        """Return the commands that give each direction of each link its rate."""
        lines: dict[int, list[str]] = {}
        for (node, other), rate in self.bits.items():
            device = device_to(other)
            lines.setdefault(node, []).extend(
                [
                    f"qdisc add dev {device} root handle 1: htb default 1",
                    f"class add dev {device} parent 1: classid 1:1 htb {_rate(rate)}",
                    f"qdisc add dev {device} parent 1:1 handle 10: pfifo limit {_QUEUE}",
                ]
            )
        return [Batch("tc", self.namespaces[node], tuple(each)) for node, each in lines.items()]

    def change(self, change: LinkChange) -> list[Batch]:
        """Return the commands that change a link while packets cross it."""
        rate = round(change.rate * 10**6)
        return [
            self._change(node, device_to(other), rate)
            for node, other in ((change.one, change.other), (change.other, change.one))
        ]

    def _change(self, node: int, device: str, rate: int) -> Batch:
        limit = _QUEUE if rate else 0  # a queue without room drops every packet
        lines = [f"class change dev {device} parent 1: classid 1:1 htb {_rate(rate)}"] if rate else []
        lines.append(f"qdisc replace dev {device} parent 1:1 handle {10 if rate else 20}: pfifo limit {limit}")
        return Batch("tc", self.namespaces[node], tuple(lines))


def _entry(nic: LinkEnd, port: int) -> str:
    return f"fdb add {nic.hardware_address} dev {device_to(port)} master static"


def _rate(bits: int) -> str:
    return f"rate {bits}bit burst {_BURST} cburst {_BURST} quantum {2 * _MTU}"
