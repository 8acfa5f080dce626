"""Odd sets of half-duplex nodes: the constraints that ports alone do not express (Edmonds 1965).

The links that are busy at the same time are a matching of half-duplex nodes. In a set S of an odd number of nodes, at
most (|S| - 1) / 2 links are busy at a time. Times of links fit into a unit of time if and only if they fit at every
port and in every odd set (the matching polytope). On networks whose nodes can be divided into two sides with no link
within a side, the ports are enough.

A violated set is found by the least odd cut (Padberg and Rao 1982): a further node r takes the idle time of each node.
Then the capacity that leaves S is |S| minus twice the time of the links inside, so S is violated if less than 1 leaves
it. A least cut with an odd number of nodes is a cut of a cut tree (Gomory and Hu 1961), which Gusfield's method (1990)
makes from one maximum flow for each node. All numbers are integers.
"""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import lcm

from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.proof.prices import PortKind
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.solver.flows.max_flow import MaxFlow
from forestcoll.topology.graph.walks import hops

Pair = tuple[int, int]
"""Two nodes, the smaller number first."""


def violated_odd_sets(platform: Platform, trees: Sequence[SeriesTree]) -> list[tuple[int, ...]]:
    """Return odd sets in which `trees` need more time than there is. The list is empty only if there is no such set."""
    return _violated(pair_times(platform, trees))


def pair_times(platform: Platform, trees: Sequence[SeriesTree]) -> dict[Pair, Fraction]:
    """Return the time for which the links between two half-duplex nodes are busy in a unit of time."""
    times: dict[Pair, Fraction] = {}
    for tree in trees:
        for ends in tree.edges:
            link = platform.topology.link_numbers[ends]
            pair = half_duplex_pair(platform, link)
            if pair is not None:
                times[pair] = times.get(pair, Fraction(0)) + tree.weight * platform.costs[link]
    return times


def half_duplex_pair(platform: Platform, link: int) -> Pair | None:
    """Return the two nodes whose half-duplex ports a link occupies, or None if it does not occupy two of them."""
    nodes = sorted(port.number for port in platform.ports[link] if port.kind is PortKind.BOTH)
    return (nodes[0], nodes[1]) if len(nodes) == 2 else None


def two_sides(pairs: Collection[Pair]) -> Mapping[int, int] | None:
    """Return a side, 0 or 1, of each node such that no pair is within a side; None if there is an odd cycle."""
    neighbours = _neighbours(pairs)
    sides: dict[int, int] = {}
    for start in neighbours:
        if start in sides:
            continue
        sides |= {node: number % 2 for node, number in hops([start], neighbours.__getitem__).items()}
    return sides if all(sides[one] != sides[other] for one, other in pairs) else None


def _neighbours(pairs: Collection[Pair]) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = {}
    for one, other in sorted(pairs):
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    return neighbours


def _violated(times: Mapping[Pair, Fraction]) -> list[tuple[int, ...]]:
    if two_sides(times) is not None:
        return []
    nodes = sorted({node for pair in times for node in pair})
    place = {node: number for number, node in enumerate(nodes)}
    scale = lcm(*(time.denominator for time in times.values()))
    idle = [scale] * len(nodes)
    edges = []
    for (one, other), time in sorted(times.items()):
        edges.append((place[one], place[other], int(time * scale)))
        for node in (one, other):
            idle[place[node]] -= edges[-1][2]
    edges += [(node, len(nodes), left) for node, left in enumerate(idle) if left]
    found = (side for side in _cut_tree_sides(len(nodes) + 1, edges) if len(side) % 2 and _leaving(edges, side) < scale)
    return sorted({tuple(nodes[each] for each in sorted(side)) for side in found})


def _leaving(edges: Sequence[tuple[int, int, int]], side: Collection[int]) -> int:
    """Return the capacity between `side` and the other nodes."""
    return sum(capacity for one, other, capacity in edges if (one in side) != (other in side))


def _cut_tree_sides(nodes: int, edges: Sequence[tuple[int, int, int]]) -> list[set[int]]:
    """Return, for each edge of a cut tree, the side of its cut that does not contain the last node."""
    arcs = [arc for one, other, room in edges for arc in ((one, other, room), (other, one, room))]
    root = nodes - 1
    parent = [root] * nodes
    for node in range(root):
        target = parent[node]
        inside = MaxFlow(nodes, arcs, node, target).inside
        for other in range(nodes):
            if other != node and other in inside and parent[other] == target:
                parent[other] = node
        if target != root and parent[target] in inside:
            parent[node], parent[target] = parent[target], node
    below = [{node} for node in range(nodes)]
    for node in range(root):
        above = parent[node]
        while above != root:
            below[above].add(node)
            above = parent[above]
    return below[:root]
