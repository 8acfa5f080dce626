"""Networks in which compute nodes receive at most a given bandwidth, over all links together.

A switch takes the place of a node at the ends of its links, and the only link from the switch leads to the node. The
bandwidth of this link is the limit. So each schedule on the network with limits is one on the network itself, without
these switches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.topology.model import Link, Node, NodeKind, Topology


def with_receive_limits(topology: Topology, limits: Mapping[int, Fraction]) -> Topology:
    """Return the network in which each node of `limits` receives at most this bandwidth.

    The new switches follow the nodes of `topology`, whose numbers stay the same.

    Args:
        topology: the network.
        limits: the limits in the unit of the network, by the numbers of compute nodes. Those that are not below the
            bandwidth of all links to the node change nothing.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> ring = build_topology("ring:nodes=3,bandwidth=10")
        >>> limited = with_receive_limits(ring, {0: Fraction(5), 1: Fraction(20)})
        >>> [(link.source, link.target, int(link.bandwidth)) for link in limited.links]
        [(0, 1, 10), (0, 2, 10), (1, 2, 10), (1, 3, 10), (2, 1, 10), (2, 3, 10), (3, 0, 5)]
    """
    received = {node: topology.ingress[node] for node in limits}
    limited = [node for node in sorted(limits) if limits[node] < received[node]]
    ports = {node: len(topology.nodes) + place for place, node in enumerate(limited)}
    taken = {str(node.id) for node in topology.nodes}
    names = [_free_name(f"port of {topology.nodes[node].id}", taken) for node in limited]
    links = [replace(link, target=ports.get(link.target, link.target)) for link in topology.links]
    links += [Link(port, node, limits[node]) for node, port in ports.items()]
    return replace(
        topology,
        nodes=(*topology.nodes, *(Node(name, NodeKind.SWITCH) for name in names)),
        links=tuple(sorted(links, key=lambda each: (each.source, each.target))),
    )


def without_ports(route: Sequence[int], topology: Topology) -> list[int]:
    """Return a route on a network with limits, which was made from `topology`, as one on `topology`."""
    return [node for node in route if node < len(topology.nodes)]


def _free_name(name: str, taken: set[str]) -> str:
    return name if name not in taken else _free_name(f"{name}'", taken)
