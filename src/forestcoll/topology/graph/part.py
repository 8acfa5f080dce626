"""The part of a network that a collective over some of its compute nodes can use.

Node numbers do not change. An idle compute node becomes a switch that can copy and add up data, or loses its links.
Links from which no rank can be reached, and links that no rank can reach, are left out.
"""

from collections.abc import Collection
from dataclasses import replace

from forestcoll.topology.graph.walks import reached_from
from forestcoll.topology.model import Node, NodeKind, Topology


def usable_part(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with idle nodes as switches and without unusable links; `topology` if nothing changes."""
    return _without_dead_ends(relayed(topology, ranks))


def relayed(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with idle nodes as switches that can copy and add up; `topology` if no node is idle."""
    idle = set(topology.compute).difference(ranks)
    if not idle:
        return topology
    nodes = tuple(as_relay(node) if number in idle else node for number, node in enumerate(topology.nodes))
    return replace(topology, nodes=nodes)


def part_without(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return the usable part of `topology` without the links of idle nodes."""
    return usable_part(without_links_of_idle(topology, ranks), ranks)


def without_links_of_idle(topology: Topology, ranks: Collection[int]) -> Topology:
    """Return `topology` with its idle nodes, but without their links."""
    idle = set(topology.compute).difference(ranks)
    links = tuple(link for link in topology.links if link.source not in idle and link.target not in idle)
    return replace(topology, links=links)


def as_relay(node: Node) -> Node:
    """Return an idle compute node as a switch that can copy and add up."""
    return replace(node, kind=NodeKind.SWITCH, multicast=True, aggregation=True)


def widened(topology: Topology, ranks: Collection[int], cut: Collection[int]) -> tuple[int, ...]:
    """Return `cut`, a cut of the usable part, as a cut of `topology` with the same exit bandwidth.

    Nodes that ranks reach but that reach no rank are added, and nodes that no rank reaches are removed. So no link that
    was left out leaves the cut.
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
