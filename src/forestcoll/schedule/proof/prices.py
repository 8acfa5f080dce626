"""Prices of ports, which prove a bound of a series (*Steady-state broadcasts*, the dual of SSB(G)).

Each message uses ports for some time. With a price for a unit of time at each port, every tree costs at least the total
weight of the `cuts`: every tree enters each of their sets, and each link costs at least the total weight of the sets
that it enters. One unit of time at all ports costs the sum of all prices. So at most (sum of prices) / (total weight)
messages can be broadcast in a unit of time.

In other collectives, the data of an operation enters a set once for each message that it needs from outside
(`crossings`): the weight of a set counts as often. If data flows towards roots, it leaves the sets.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

from forestcoll.base.errors import InputError, plural
from forestcoll.demand.collective import SERIES, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Topology
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT, link_ends, shared_bandwidths
from forestcoll.topology.graph.walks import cheapest, over_switches
from forestcoll.topology.model import BOUNDED


class PortKind(StrEnum):
    """The kind of a resource that only one busy link can use at a time."""

    SEND = "send"
    """The sending port of a compute node: it sends to one neighbour at a time."""
    RECEIVE = "receive"
    """The receiving port of a compute node: it receives from one neighbour at a time."""
    BOTH = "both"
    """The only port of a compute node that sends to or receives from one neighbour at a time (half-duplex)."""
    LINK = "link"
    """The link itself: the only port of a link whose ends have no ports in the port model."""
    OUTGOING = "outgoing"
    """The bandwidth that all links share over which a compute node sends (bounded multi-port)."""
    INCOMING = "incoming"
    """The bandwidth that all links share over which a compute node receives (bounded multi-port)."""
    ODD_SET = "odd-set"
    """An odd set of half-duplex nodes, which are not ports; see `PricesProof.odd_sets`."""


class EndPorts(NamedTuple):
    """The kinds of ports that a busy link occupies at its ends, if they are compute nodes; None for no port."""

    sending: PortKind | None
    receiving: PortKind | None


_END_PORTS: Mapping[str | None, EndPorts] = {
    None: EndPorts(None, None),
    "one-port": EndPorts(PortKind.SEND, PortKind.RECEIVE),
    "one-port-send": EndPorts(PortKind.SEND, None),
    "one-port-receive": EndPorts(None, PortKind.RECEIVE),
    "half-duplex": EndPorts(PortKind.BOTH, PortKind.BOTH),
    BOUNDED: EndPorts(None, None),
}
"""The ports of each port model."""


@dataclass(frozen=True, slots=True, order=True)
class Port:
    """A port; `number` is the number of its node, or the place of its link in `Topology.links`."""

    kind: PortKind
    number: int


@dataclass(frozen=True, repr=False)
class PricesProof(Proof):
    """Prices of ports with weighted cuts.

    Attributes:
        prices: ports, each with its price for a unit of time, above 0.
        cuts: sets of compute nodes without the source, each after its weight, above 0. Without a source, a set does not
            contain all compute nodes.
        odd_sets: for half-duplex nodes, sets of an odd number of compute nodes, each after its price, above 0. At most
            (|S| - 1) / 2 links within a set S are busy at a time, so a unit of time costs the price times this number.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.oneport import compare_series
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = compare_series(ring, 0).best.certificate
        >>> str(proof.algbw(ring, NodeDemand(Collective.BROADCAST, root=0)))
        '2'
    """

    prices: tuple[tuple[Port, Fraction], ...]
    cuts: tuple[tuple[Fraction, tuple[int, ...]], ...]
    odd_sets: tuple[tuple[Fraction, tuple[int, ...]], ...] = ()

    kind: ClassVar[str] = "prices"

    @property
    def throughput(self) -> Fraction:
        """The bound on the throughput of a broadcast, messages in a unit of time, if the proof is valid."""
        return self.operations(Collective.BROADCAST, 0)

    def operations(self, collective: Collective, nodes: int) -> Fraction:
        """Return the bound on the operations of `nodes` compute nodes in a unit of time, if the proof is valid."""
        weight = sum((weight * crossings(collective, nodes, len(cut)) for weight, cut in self.cuts), Fraction(0))
        odd = sum((price * (len(inside) // 2) for price, inside in self.odd_sets), Fraction(0))
        return (sum((price for _, price in self.prices), Fraction(0)) + odd) / weight

    def words(self) -> str:
        """See `Proof.words`."""
        count = plural(len(self.prices), "port")
        return f"At the prices of {count}, every message costs at least 1, and a unit of time costs {self.throughput}."

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        """See `Proof.algbw`; messages have size 1."""
        collective, nodes = demand.collective, len(topology.compute)
        if collective not in SERIES or collective.has_root != (demand.root is not None):
            raise ProofError(f"prices bound no series of {collective.with_article}")
        if any(price <= 0 for _, price in self.prices) or any(weight <= 0 for weight, _ in self.cuts):
            raise ProofError("a price or the weight of a cut is 0 or less")
        if len({port for port, _ in self.prices}) < len(self.prices):
            raise ProofError("a port has two prices")
        others = set(topology.compute) - {demand.root}
        most = nodes - (demand.root is None)
        if not self.cuts or not all(inside and others.issuperset(inside) for _, inside in self.cuts):
            raise ProofError("there is no cut, or one is empty or contains the source or a switch")
        if any(len(set(inside)) < len(inside) or len(inside) > most for _, inside in self.cuts):
            raise ProofError("a cut has a node twice, or all compute nodes")
        self._check_odd_sets(topology)
        self._check_path_costs(topology, leaving=collective.flows_to_roots)
        return self.operations(collective, nodes) * (nodes if collective.has_shards else 1)

    def _check_odd_sets(self, topology: Topology) -> None:
        if self.odd_sets and end_ports(topology).sending is not PortKind.BOTH:
            raise ProofError("odd sets have prices only if nodes are half-duplex")
        for price, inside in self.odd_sets:
            if price <= 0 or len(set(inside)) < len(inside) or len(inside) % 2 == 0:
                raise ProofError("the price of an odd set is 0 or less, or it has an even number of nodes")
            if not set(topology.compute).issuperset(inside):
                raise ProofError("an odd set contains a switch")

    def _check_path_costs(self, topology: Topology, *, leaving: bool) -> None:
        """Check that each path between two compute nodes costs at least the weight of the cuts that it enters.

        If data flows towards roots, the cuts that the path leaves count.
        """
        verb = "leaves" if leaving else "enters"
        costs = self._costs(topology)
        for node in topology.compute:
            for target, cost in _paths(topology, costs, node):
                inner, outer = (node, target) if leaving else (target, node)
                due = sum((weight for weight, cut in self.cuts if inner in cut and outer not in cut), Fraction(0))
                if cost < due:
                    ends = " -> ".join(repr(each) for each in topology.ids([node, target]))
                    raise ProofError(
                        f"{ends} costs {cost} at the prices, less than {due}, the weight of the cuts that it {verb}"
                    )

    def _costs(self, topology: Topology) -> list[Fraction]:
        """Return the cost of a message over each link."""
        prices = dict(self.prices)
        costs = [
            sum((prices.get(port, Fraction(0)) * time for port, time in uses), Fraction(0))
            for uses in port_times(topology)
        ]
        for price, inside in self.odd_sets:
            for number, link in enumerate(topology.links):
                if set(link_ends(topology, number)).issubset(inside):
                    costs[number] += price / link.bandwidth
        return costs

    def document(self, name: NodeName) -> dict[str, object]:
        """See `Proof.document`. A link is named by its place in `Topology.links`."""
        prices: list[dict[str, object]] = []
        for port, price in self.prices:
            where = {"link": port.number} if port.kind is PortKind.LINK else {"node": name(port.number)}
            prices.append({**where, "port": port.kind.value, "price": str(price)})
        cuts = [{"weight": str(weight), "nodes": [name(node) for node in inside]} for weight, inside in self.cuts]
        odd = [{"price": str(price), "nodes": [name(node) for node in inside]} for price, inside in self.odd_sets]
        return {"prices": prices, "cuts": cuts} | ({"odd_sets": odd} if odd else {})

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        prices = []
        for number, each in enumerate(reading.objects(document, "prices", where)):
            place = f"{where}.prices[{number}]"
            kind = reading.name_in(each, "port", PortKind, place)
            if kind is PortKind.ODD_SET:
                raise InputError(f"{place}.port is 'odd-set'; write the price of an odd set under 'odd_sets'")
            port = (
                reading.link(each, "link", topology, place)
                if kind is PortKind.LINK
                else reading.node(each, "node", topology, place)
            )
            prices.append((Port(kind, port), reading.rational(each, "price", place)))
        cuts = tuple(_sets(document, "cuts", "weight", topology, where))
        odd_sets = tuple(_sets(document, "odd_sets", "price", topology, where)) if "odd_sets" in document else ()
        return cls(tuple(prices), cuts, odd_sets)


def _sets(
    document: Mapping[str, object], key: str, value: str, topology: Topology, where: str
) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield the sets of nodes under `key`, each after its number under `value`."""
    for number, each in enumerate(reading.objects(document, key, where)):
        place = f"{where}.{key}[{number}]"
        yield reading.rational(each, value, place), reading.nodes(each, "nodes", topology, place)


def crossings(collective: Collective, nodes: int, inside: int) -> int:
    """Return how many messages of an operation cross the border of a set of `inside` of the `nodes` compute nodes.

    Example:
        >>> [crossings(Collective(name), 5, 2) for name in ("broadcast", "scatter", "allgather")]
        [1, 2, 3]
    """
    if collective.is_personalised:
        return inside
    return nodes - inside if collective.has_shards else 1


def ports_of(topology: Topology, link: int) -> Iterator[Port]:
    """Yield the ports that only this busy link uses: itself, and the ports of its compute nodes in the port model."""
    yield Port(PortKind.LINK, link)
    for node, kind in zip(link_ends(topology, link), end_ports(topology), strict=True):
        if kind is not None and node is not None:
            yield Port(kind, node)


def port_times(topology: Topology) -> list[list[tuple[Port, Fraction]]]:
    """Return, for each link, its ports and the bandwidths that it shares, each with the time of a message there."""
    outgoing = shared_bandwidths(topology, SEND_LIMIT)
    incoming = shared_bandwidths(topology, RECEIVE_LIMIT)
    times = []
    for number, link in enumerate(topology.links):
        uses = [(port, 1 / link.bandwidth) for port in ports_of(topology, number)]
        if link.source in outgoing:
            uses.append((Port(PortKind.OUTGOING, link.source), 1 / outgoing[link.source]))
        if link.target in incoming:
            uses.append((Port(PortKind.INCOMING, link.target), 1 / incoming[link.target]))
        times.append(uses)
    return times


def end_ports(topology: Topology) -> EndPorts:
    """Return the kinds of ports at the ends of a link in the port model of `topology`."""
    return _END_PORTS[topology.port_model]


def _paths(topology: Topology, costs: list[Fraction], start: int) -> Iterator[tuple[int, Fraction]]:
    """Yield each compute node that `start` reaches over switches only, and the least cost of a path (Dijkstra)."""
    after = over_switches(topology, start)
    found = cheapest(
        {start: Fraction(0)},
        lambda node, cost: [(other, cost + costs[topology.link_numbers[node, other]]) for other in after(node)],
    )
    return ((node, cost) for node, cost in found.items() if node != start and topology.nodes[node].is_compute)
