"""The platform of a series of broadcasts: the costs of links, and which links exclude each other (§2).

A busy link occupies ports. The `port_model` of the network says which ports a compute node has: one to send and one to
receive, only one of these two, or one for both (half-duplex). A link that occupies no port of a node is its own port.
Without a `port_model`, a node uses all its links at the same time, so every link is its own port. A switch has no ports
in any model.

Two more kinds of resources have the same form: they have a time for each message over a link, and at most all the time
can be used. In the bounded multi-port model, links share bandwidths of their nodes. In a half-duplex model, the odd
sets of nodes that the solver has needed so far are added (`odd_sets`).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from forestcoll.base.errors import InputError, NoSolutionError, shown
from forestcoll.demand.ranks import root_number
from forestcoll.schedule.proof.prices import Port, PortKind, PricesProof, end_ports, port_times
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.graph.overheads import KEYS
from forestcoll.topology.graph.walks import reached_from

SHARED = frozenset({PortKind.OUTGOING, PortKind.INCOMING, PortKind.ODD_SET})
"""The kinds of resources that several links can use at the same time."""

Uses = tuple[tuple[Port, Fraction], ...]
"""Ports, each with a part of the cost of a link."""

Cuts = tuple[tuple[Fraction, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Platform:
    """A network with a source from which every compute node can be reached. `Platform.of` makes one.

    Attributes:
        topology: the network.
        source: the number of the source.
        costs: the time of a message over each link (c), greater than 0.
        uses: the ports that each link uses, each with the time there as a part of the cost. It is 1 but for bandwidths
            that several links share, and for odd sets.
        order: for a DAG, all compute nodes with the source first: messages may only be sent from a node to a later
            node. An empty order has no such restriction.
    """

    topology: Topology
    source: int
    costs: tuple[Fraction, ...]
    uses: tuple[Uses, ...]
    order: tuple[int, ...] = ()
    odd_sets: tuple[tuple[int, ...], ...] = ()

    @staticmethod
    def of(
        topology: Topology,
        source: NodeId,
        costs: Sequence[Fraction] | None = None,
        *,
        inwards: bool = False,
        role: str = "source",
    ) -> "Platform":
        """Return the platform of `topology` with the given source.

        Args:
            topology: the network, with any port model.
            source: the id of a compute node or, if no node has that id, its position among the compute nodes.
            costs: the time of a message over each link. The default is 1/bandwidth.
            inwards: whether messages go to the source instead.
            role: what messages call the source.

        Raises:
            InputError: the source is unknown or a switch, or a cost is 0 or less.
            NoSolutionError: the source cannot reach every compute node, or cannot be reached from it.
        """
        if any(key in topology.nodes[node].attributes for node in topology.compute for key in KEYS):
            raise InputError(f"{topology.name}: nodes have overheads; use without_overheads(topology)")
        number = root_number(topology, source, role=role)
        if missed := _unreached(topology, number, inwards=inwards):
            names = ", ".join(shown(each) for each in topology.ids(missed[:3]))
            more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
            verb = "cannot be reached from" if inwards else "cannot reach"
            other = " or choose another source" if role == "source" else ""
            raise NoSolutionError(
                f"{topology.name}: {role} {shown(source)} {verb} compute node{'s' * (len(missed) > 1)} "
                f"{names}{more}; add links on the way{other}"
            )
        each = tuple(1 / link.bandwidth for link in topology.links) if costs is None else tuple(costs)
        _check_costs(topology, each)
        return Platform(topology, number, each, tuple(_uses(topology)))

    def with_odd_sets(self, found: Sequence[tuple[int, ...]]) -> "Platform":
        """Return the platform with the constraints of more odd sets of half-duplex nodes.

        A set S is used like a port by each link between two of its nodes, for 2 / (|S| - 1) of the time of the link.
        """
        uses = list(self.uses)
        for number, inside in enumerate(found, start=len(self.odd_sets)):
            use = Port(PortKind.ODD_SET, number), Fraction(2, len(inside) - 1)
            for link, ports in enumerate(self.ports):
                if sum(port.kind is PortKind.BOTH and port.number in inside for port in ports) == 2:
                    uses[link] = (*uses[link], use)
        return replace(self, uses=tuple(uses), odd_sets=(*self.odd_sets, *found))

    def proof(self, prices: Mapping[Port, Fraction], cuts: Cuts) -> PricesProof:
        """Return the proof with these prices of the ports of the platform."""
        odd = tuple(
            (price * Fraction(2, len(self.odd_sets[port.number]) - 1), self.odd_sets[port.number])
            for port, price in prices.items()
            if port.kind is PortKind.ODD_SET
        )
        others = tuple(each for each in prices.items() if each[0].kind is not PortKind.ODD_SET)
        return PricesProof(others, cuts, odd)

    @cached_property
    def ports(self) -> tuple[tuple[Port, ...], ...]:
        """The ports of each link that no other link can use at the same time."""
        return tuple(tuple(port for port, _ in uses if port.kind not in SHARED) for uses in self.uses)

    @property
    def has_node_ports(self) -> bool:
        """Whether compute nodes have ports, or bandwidths that their links share."""
        return any(port.kind is not PortKind.LINK for port in self.all_ports)

    @property
    def sends_one_at_a_time(self) -> bool:
        """Whether a compute node sends over one link at a time."""
        return end_ports(self.topology).sending is not None

    @property
    def receives_one_at_a_time(self) -> bool:
        """Whether a compute node receives over one link at a time."""
        return end_ports(self.topology).receiving is not None

    @cached_property
    def all_ports(self) -> tuple[Port, ...]:
        """All ports that links use, each once, sorted."""
        return tuple(sorted({port for uses in self.uses for port, _ in uses}))

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
        return (self.topology.link_numbers[ends] for ends in itertools.pairwise(route))


def _check_costs(topology: Topology, costs: Sequence[Fraction]) -> None:
    if len(costs) != len(topology.links):
        raise InputError(f"{topology.name}: {len(costs)} costs for {len(topology.links)} links; give one cost per link")
    for link, cost in zip(topology.links, costs, strict=True):
        if cost <= 0:
            one, other = topology.ids([link.source, link.target])
            raise InputError(
                f"{topology.name}: edge {shown(one)} -> {shown(other)}: cost {cost} must be greater than 0"
            )


def _uses(topology: Topology) -> Iterable[Uses]:
    """Yield the uses of each link, without the link itself if a node has a port for it alone at one of its ends."""
    for link, times in zip(topology.links, port_times(topology), strict=True):
        (itself, _), *others = times
        needed = not others or any(port.kind in SHARED for port, _ in others)
        parts = tuple((port, time * link.bandwidth) for port, time in others)
        yield ((itself, Fraction(1)), *parts) if needed else parts


def _unreached(topology: Topology, source: int, *, inwards: bool) -> list[int]:
    reached = reached_from(topology, [source], backwards=inwards)
    return [node for node in topology.compute if node not in reached]
