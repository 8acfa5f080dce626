"""Logical arcs between compute nodes: links, or cheapest paths through switches.

A switch forwards messages without copying them. So every tree consists of logical arcs, and its cost is the sum of
their costs. A cheapest tree over the cheapest path of each pair is a cheapest tree overall.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

from forestcoll.oneport.platform.platform import Platform
from forestcoll.topology.graph.arborescence import Arc, Number
from forestcoll.topology.graph.walks import cheapest, hops, over_switches

_Way: TypeAlias = tuple[Number, int, tuple[int, ...]]
"""The cost of a path, its number of links, and its nodes."""


@dataclass(frozen=True)
class LogicalArcs(Generic[Number]):
    """Arcs between compute nodes, with the path of links and the cost of each arc."""

    arcs: Sequence[Arc]
    routes: Sequence[tuple[int, ...]]
    costs: Sequence[Number]


def logical_arcs(platform: Platform, prices: Sequence[Number]) -> LogicalArcs[Number]:
    """Return the logical arcs if a message over link e costs `prices[e]`.

    Arcs into the source and arcs that lead backwards in the order of the platform are left out.
    """
    topology = platform.topology
    if not topology.switches:
        kept = [
            place
            for place, link in enumerate(topology.links)
            if link.target != platform.source and platform.allows(link.source, link.target)
        ]
        ends = [(topology.links[place].source, topology.links[place].target) for place in kept]
        return LogicalArcs(ends, ends, [prices[place] for place in kept])
    arcs: list[Arc] = []
    routes: list[tuple[int, ...]] = []
    costs: list[Number] = []
    for node in topology.compute:
        for target, cost, route in _cheapest_from(platform, node, prices):
            arcs.append((node, target))
            routes.append(route)
            costs.append(cost)
    return LogicalArcs(arcs, routes, costs)


def _cheapest_from(
    platform: Platform, node: int, prices: Sequence[Number]
) -> list[tuple[int, Number, tuple[int, ...]]]:
    """Return the compute nodes that can be reached from `node` through switches, with costs and paths.

    On a tie between paths, the path with fewer links is taken.
    """
    topology, after = platform.topology, over_switches(platform.topology, node)

    def onwards(here: int, way: _Way[Number]) -> Iterator[tuple[int, _Way[Number]]]:
        for target in after(here):
            cost = way[0] + prices[topology.link_numbers[here, target]]
            yield target, (cost, way[1] + 1, (*way[2], target))

    start: dict[int, _Way[Number]] = {node: (prices[0] - prices[0], 0, (node,))}
    found = cheapest(start, onwards)
    ends = [each for each in sorted(found) if topology.nodes[each].is_compute and each not in {node, platform.source}]
    return [(each, found[each][0], found[each][2]) for each in ends if platform.allows(node, each)]


def outwards(routes: Iterable[tuple[int, ...]], source: int) -> tuple[tuple[int, ...], ...]:
    """Return the routes of a tree in the order of their distance from the source.

    Each route starts at the source or at the end of an earlier route.
    """
    leaving: dict[int, list[tuple[int, ...]]] = {}
    for route in sorted(routes):
        leaving.setdefault(route[0], []).append(route)
    nodes = hops([source], lambda node: [route[-1] for route in leaving.get(node, [])])
    return tuple(route for node in nodes for route in leaving.get(node, []))
