"""The part of a network that a collective over some of its compute nodes can use.

Node numbers stay as they are: an idle compute node becomes a switch, one that can copy and add up, or loses its links.
Links that lead into a dead end, or away from where nothing arrives, are left out.
"""

from collections.abc import Collection
from dataclasses import replace

from forestcoll.topology.model import Node, NodeKind, Topology
from forestcoll.topology.reach import reached_from


def usable_part(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with idle nodes as switches, without links that lead nowhere; itself if that is all of it."""
    return _without_dead_ends(relayed(topology, ranks))


def relayed(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with idle nodes as switches that can copy and add up; itself if there are none."""
    idle = set(topology.compute).difference(ranks)
    if not idle:
        return topology
    nodes = tuple(as_relay(node) if number in idle else node for number, node in enumerate(topology.nodes))
    return replace(topology, nodes=nodes)


def part_without(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return the usable part of `topology` that is left when the idle nodes are taken away with their links."""
    return usable_part(without_links_of_idle(topology, ranks), ranks)


def without_links_of_idle(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with its idle nodes, but without their links."""
    idle = set(topology.compute).difference(ranks)
    links = tuple(link for link in topology.links if link.source not in idle and link.target not in idle)
    return replace(topology, links=links)


def as_relay(node: Node) -> Node:
    """Return an idle compute node as the switch that it can serve as."""
    return replace(node, kind=NodeKind.SWITCH, multicast=True, aggregation=True)


def widened(topology: Topology, ranks: Collection[int], cut: Collection[int]) -> tuple[int, ...]:
    """Return `cut` as a set of the whole `topology` that no more leaves than leaves it in the usable part.

    Nodes that ranks reach but which reach none go inside, and nodes that no rank reaches go outside: so no link that
    was left out leaves the set.
    """
    fed = reached_from(topology, ranks)
    feeding = reached_from(topology, ranks, backwards=True)
    inside = (set(cut) | (fed - feeding)) - (feeding - fed)
    return tuple(sorted(inside))


def _without_dead_ends(topology: Topology) -> Topology:
    fed = reached_from(topology, topology.compute)
    feeding = reached_from(topology, topology.compute, backwards=True)
    links = tuple(link for link in topology.links if (link.source in fed) == (link.target in feeding))
    return topology if len(links) == len(topology.links) else replace(topology, links=links)
