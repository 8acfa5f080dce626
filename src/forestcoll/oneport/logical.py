"""The direct ways between compute nodes: arcs that are links, or the cheapest paths through switches.

A switch passes messages on without copying them, so a tree is a tree of such arcs, and what it costs is the sum of
theirs: a cheapest tree over the cheapest path of each pair is a cheapest tree of all.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from forestcoll.oneport.arborescence import Arc, Number
from forestcoll.oneport.platform import Platform


@dataclass(frozen=True)
class LogicalArcs(Generic[Number]):
    """Arcs between compute nodes with the path of links behind each, and its cost."""

    arcs: Sequence[Arc]
    routes: Sequence[tuple[int, ...]]
    costs: Sequence[Number]


def logical_arcs(platform: Platform, prices: Sequence[Number]) -> LogicalArcs[Number]:
    """Return the arcs where a message over link e costs `prices[e]`.

    Arcs into the source, or back in the platform's order, are left out.
    """
    topology = platform.topology
    if not topology.switches:
        kept = [
            place
            for place, link in enumerate(topology.links)
            if link.target != platform.source and platform.goes(link.source, link.target)
        ]
        ends = [(topology.links[place].source, topology.links[place].target) for place in kept]
        return LogicalArcs(ends, ends, [prices[place] for place in kept])
    arcs: list[Arc] = []
    routes: list[tuple[int, ...]] = []
    costs: list[Number] = []
    leaving = _leaving(platform)
    for node in topology.compute:
        for target, cost, route in _cheapest_from(platform, leaving, node, prices):
            arcs.append((node, target))
            routes.append(route)
            costs.append(cost)
    return LogicalArcs(arcs, routes, costs)


def _leaving(platform: Platform) -> list[list[tuple[int, int]]]:
    leaving: list[list[tuple[int, int]]] = [[] for _ in platform.topology.nodes]
    for place, link in enumerate(platform.topology.links):
        leaving[link.source].append((place, link.target))
    return leaving


def _cheapest_from(
    platform: Platform, leaving: Sequence[Sequence[tuple[int, int]]], node: int, prices: Sequence[Number]
) -> list[tuple[int, Number, tuple[int, ...]]]:
    """Return the compute nodes that can be reached from `node` through switches, with costs and paths (Dijkstra).

    Of equally cheap paths the one with the fewest links is taken.
    """
    nodes = platform.topology.nodes
    zero = prices[0] - prices[0]
    best: dict[int, tuple[Number, int, tuple[int, ...]]] = {node: (zero, 0, (node,))}
    heap: list[tuple[Number, int, tuple[int, ...]]] = [best[node]]
    found = []
    while heap:
        item = heapq.heappop(heap)
        cost, steps = item[:2]
        route: tuple[int, ...] = item[2]
        here = route[-1]
        if best[here] < item:
            continue
        if here != node and nodes[here].is_compute:
            if here != platform.source and platform.goes(node, here):
                found.append((here, cost, route))
            continue
        for link, target in leaving[here]:
            candidate = (cost + prices[link], steps + 1, (*route, target))
            if target not in best or candidate < best[target]:
                best[target] = candidate
                heapq.heappush(heap, candidate)
    return sorted(found)


def outwards(routes: Iterable[tuple[int, ...]], source: int) -> tuple[tuple[int, ...], ...]:
    """Return the routes of a tree in an order in which each begins where one before it ends, nearest first."""
    leaving: dict[int, list[tuple[int, ...]]] = {}
    for route in sorted(routes):
        leaving.setdefault(route[0], []).append(route)
    ordered: list[tuple[int, ...]] = []
    frontier = [source]
    for node in frontier:
        for route in leaving.get(node, []):
            ordered.append(route)
            frontier.append(route[-1])
    return tuple(ordered)
