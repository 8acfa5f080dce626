"""The overheads of nodes: the time in which a node prepares a message that it sends, or accepts one that it receives.

A compute node may have `send_overhead` and `receive_overhead`: the time per message of size 1, in the unit of time of
the series. For packets, `send_overhead_us` and `receive_overhead_us` add a start-up. A message goes through three
stages: the overhead of the sender, the link, and the overhead of the receiver. It can wait between two stages. The port
to send of a node is busy for its overhead and, in port models in which a node sends to one neighbour at a time, also
while the link is busy. The same is true of the port to receive.

Such a network is the same as a network without overheads in which a node has a switch for what it sends and another one
for what it receives. The links between the node and its switches have the overheads as costs. The switches have the
attribute `port_of`, so that their links use the ports of the node (`node_ports`).
"""

from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.graph.node_ports import PORT_OF, positive
from forestcoll.topology.model import BOUNDED, Link, Node, NodeId, NodeKind, Topology

KEYS = ("send_overhead", "send_overhead_us", "receive_overhead", "receive_overhead_us")


def without_overheads(topology: Topology) -> Topology:
    """Return the network in which the overheads of nodes are links to switches; without overheads, the network itself.

    The switches of node "a" are "a sends" and "a receives".

    Raises:
        InputError: an overhead is not a number above 0, there is a start-up without an overhead, a bounded multi-port
            node has an overhead and a limit of the same kind, or another node has the id of a switch.

    Example:
        >>> from forestcoll import TopologyBuilder
        >>> builder = TopologyBuilder("pair", port_model="one-port")
        >>> builder.add_link(builder.add_compute("a", send_overhead=2), builder.add_compute("b"), 1)
        >>> divided = without_overheads(builder.build())
        >>> [divided.ids([link.source, link.target]) for link in divided.links]
        [['a', 'a sends'], ['a sends', 'b']]
    """
    divided = _Divided(topology)
    for node in topology.compute:
        divided.add_stage(node, "send")
        divided.add_stage(node, "receive")
    return divided.topology() if divided.has_stages else topology


class _Divided:
    """The network with the stages so far."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._nodes = list(topology.nodes)
        self._ids = {node.id for node in topology.nodes}
        self._links: list[Link] = []
        self._stages: dict[tuple[int, str], int] = {}

    @property
    def has_stages(self) -> bool:
        return bool(self._stages)

    def add_stage(self, node: int, name: str) -> None:
        """Add the switch and the link of an overhead, `name` is "send" or "receive", if the node has it."""
        attributes = self._topology.nodes[node].attributes
        overhead, start_up = attributes.get(f"{name}_overhead"), attributes.get(f"{name}_overhead_us")
        if overhead is None:
            if start_up is not None:
                place = f"{self._topology.name}: node {shown(self._topology.nodes[node].id)}"
                raise InputError(f"{place} has {name}_overhead_us without {name}_overhead; add {name}_overhead")
            return
        if self._topology.port_model == BOUNDED and attributes.get(f"{name}_bandwidth") is not None:
            place = f"{self._topology.name}: node {shown(self._topology.nodes[node].id)}"
            raise InputError(f"{place} has {name}_bandwidth and {name}_overhead; leave one of them out")
        time = positive(self._topology, node, f"{name}_overhead", overhead)
        latency = None if start_up is None else positive(self._topology, node, f"{name}_overhead_us", start_up)
        switch = self._stages[node, name] = len(self._nodes)
        self._nodes.append(self._switch(node, name))
        ends = (node, switch) if name == "send" else (switch, node)
        self._links.append(Link(*ends, 1 / Fraction(time), latency))

    def _switch(self, node: int, name: str) -> Node:
        owner: NodeId = self._topology.nodes[node].id
        switch = f"{owner} {name}s"
        if switch in self._ids:
            raise InputError(
                f"{self._topology.name}: node {shown(owner)} has a {name}_overhead, and a node has the id "
                f"{shown(switch)} that its switch would have; rename that node"
            )
        self._ids.add(switch)
        return Node(switch, NodeKind.SWITCH, attributes=MappingProxyType({PORT_OF: owner}))

    def topology(self) -> Topology:
        """Return the network."""
        links = [
            replace(
                link,
                source=self._stages.get((link.source, "send"), link.source),
                target=self._stages.get((link.target, "receive"), link.target),
            )
            for link in self._topology.links
        ]
        nodes = (
            replace(node, attributes=MappingProxyType({k: v for k, v in node.attributes.items() if k not in KEYS}))
            for node in self._nodes
        )
        ordered = sorted((*links, *self._links), key=lambda link: (link.source, link.target))
        return replace(self._topology, nodes=tuple(nodes), links=tuple(ordered))
