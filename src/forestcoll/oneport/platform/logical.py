"""Logical arcs between compute nodes: links, or cheapest paths through switches.

A switch forwards messages without copying them. So every tree consists of logical arcs, and its cost is the sum of
their costs. A cheapest tree over the cheapest path of each pair is a cheapest tree overall.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from forestcoll.oneport.platform.platform import Platform
from forestcoll.topology.graph.arborescence import Arc, Number


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

    On a tie between paths, the path with fewer links is taken.
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
            if here != platform.source and platform.allows(node, here):
                found.append((here, cost, route))
            continue
        for link, target in leaving[here]:
            candidate = (cost + prices[link], steps + 1, (*route, target))
            if target not in best or candidate < best[target]:
                best[target] = candidate
                heapq.heappush(heap, candidate)
    return sorted(found)


def outwards(routes: Iterable[tuple[int, ...]], source: int) -> tuple[tuple[int, ...], ...]:
    """Return the routes of a tree in the order of their distance from the source.

    Each route starts at the source or at the end of an earlier route.
    """
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
