"""Limits of nodes as links: what all links of a compute node share (a host, a PCIe slot) becomes a link of its own.

A compute node v with `send_bandwidth` sends over the link v -> v/send of that bandwidth, and its links begin at the
switch v/send. With `receive_bandwidth`, its links end at the switch v/receive, and the link v/receive -> v has that
bandwidth. Data that v passes on for others crosses both. So every bound, schedule, check and time respects the limits
without knowing them. A limit of at least the sum of the links has no effect, and there is no switch for it.

In the port model `bounded-multi-port`, `node_ports` has the limits instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.graph.node_ports import NODE_LIMITS, RECEIVE_LIMIT, SEND_LIMIT, positive
from forestcoll.topology.model import Link, Node, NodeId, NodeKind, Topology

LIMIT_OF = "limit_of"
"""The attribute of a switch that stands for a limit: the id of its compute node."""

_NAMES = {SEND_LIMIT: "send", RECEIVE_LIMIT: "receive"}


def with_node_limits(topology: Topology) -> Topology:
    """Return a network with the limits of its compute nodes as links; `topology` if there is no limit.

    The numbers of the nodes stay the same. The switches of limits come after them.

    Raises:
        InputError: a limit is not a number above 0, a switch has one, or a node has the id of a switch of a limit.

    Example:
        >>> from forestcoll.topology import TopologyBuilder
        >>> builder = TopologyBuilder("pair")
        >>> builder.add_duplex(builder.add_compute("a", send_bandwidth=10), builder.add_compute("b"), 25)
        >>> network = builder.build()
        >>> [(*network.ids([link.source, link.target]), str(link.bandwidth)) for link in network.links]
        [('a', 'a/send', '10'), ('b', 'a', '25'), ('a/send', 'b', '25')]
    """
    if all(NODE_LIMITS.isdisjoint(node.attributes) for node in topology.nodes):
        return topology
    sends = _limits(topology, SEND_LIMIT, topology.egress)
    receives = _limits(topology, RECEIVE_LIMIT, topology.ingress)
    nodes = [_without_limits(node) for node in topology.nodes]
    known, links = {node.id for node in nodes}, []
    places: dict[str, dict[int, int]] = {SEND_LIMIT: {}, RECEIVE_LIMIT: {}}
    for attribute, limits in ((SEND_LIMIT, sends), (RECEIVE_LIMIT, receives)):
        for node, limit in limits.items():
            switch = places[attribute][node] = len(nodes)
            nodes.append(_switch(topology, node, _NAMES[attribute], known))
            ends = (node, switch) if attribute == SEND_LIMIT else (switch, node)
            links.append(Link(*ends, limit))
    for link in topology.links:
        source = places[SEND_LIMIT].get(link.source, link.source)
        links.append(replace(link, source=source, target=places[RECEIVE_LIMIT].get(link.target, link.target)))
    links.sort(key=lambda link: (link.source, link.target))
    return replace(topology, nodes=tuple(nodes), links=tuple(links))


def without_node_limits(topology: Topology) -> Topology:
    """Return the network of `with_node_limits` without its limits: compute nodes are joined by their links directly.

    `topology` itself is returned if it has no limits.
    """
    numbers: Mapping[object, int] = {node.id: number for number, node in enumerate(topology.nodes)}
    owners = {
        number: numbers[node.attributes[LIMIT_OF]]
        for number, node in enumerate(topology.nodes)
        if LIMIT_OF in node.attributes
    }
    if not owners:
        return topology
    kept = [number for number in range(len(topology.nodes)) if number not in owners]
    if kept != list(range(len(kept))):
        raise InputError(f"{topology.name}: the switches of limits must follow all other nodes; write them last")
    links = [
        replace(link, source=owners.get(link.source, link.source), target=owners.get(link.target, link.target))
        for link in topology.links
    ]
    links = sorted((each for each in links if each.source != each.target), key=lambda link: (link.source, link.target))
    return replace(topology, nodes=topology.nodes[: len(kept)], links=tuple(links))


def _limits(topology: Topology, attribute: str, links: Sequence[Fraction]) -> dict[int, Fraction]:
    """Return the limits that are less than the sum of the links, in the unit of the topology."""
    found: dict[int, Fraction] = {}
    for number, node in enumerate(topology.nodes):
        value = node.attributes.get(attribute)
        if value is None:
            continue
        if not node.is_compute:
            raise InputError(
                f"{topology.name}: switch {shown(node.id)} has {attribute}; only compute nodes have limits; remove it"
            )
        limit = positive(topology, number, attribute, value, unit=topology.bandwidth_unit)
        if limit < links[number]:
            found[number] = limit
    return found


def _without_limits(node: Node) -> Node:
    if NODE_LIMITS.isdisjoint(node.attributes):
        return node
    rest = {name: value for name, value in node.attributes.items() if name not in NODE_LIMITS}
    return replace(node, attributes=MappingProxyType(rest))


def _switch(topology: Topology, node: int, name: str, known: set[NodeId]) -> Node:
    """Return the switch of a limit, which is in the box of its node."""
    owner = topology.nodes[node]
    switch = f"{owner.id}/{name}"
    if switch in known:
        raise InputError(f"{topology.name}: node {shown(switch)} has the id that the limit of a node gets; rename it")
    box = {"box": owner.attributes["box"]} if "box" in owner.attributes else {}
    return Node(switch, NodeKind.SWITCH, False, False, MappingProxyType({**box, LIMIT_OF: owner.id}))  # noqa: FBT003 (the fields of a node)
