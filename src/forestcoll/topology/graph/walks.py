"""Walks over directed links: what is reached, by the fewest links, and at the least cost.

A walk takes a function `after`, which returns the nodes after a node, so that it also serves networks that are no
`Topology`. `topology.targets.__getitem__` and `over_switches` are such functions. Nodes come in the order in which a
breadth-first search finds them, or in the order of their costs, so that results are the same each time.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias, TypeVar

from forestcoll.topology.model import Topology

Place = TypeVar("Place", bound=Hashable)
Cost = TypeVar("Cost", bound=Any)
After: TypeAlias = Callable[[Place], Iterable[Place]]


def over_switches(topology: Topology, start: int) -> After[int]:
    """Return what is after a node on walks from `start` that pass through switches only and end at compute nodes."""
    nodes, targets = topology.nodes, topology.targets
    return lambda node: () if nodes[node].is_compute and node != start else targets[node]


def levels(start: Iterable[Place], after: After[Place]) -> Iterator[list[Place]]:
    """Yield `start`, then the nodes that are 1 link away from it, then those that are 2 links away, and so on.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> list(levels([0], build_topology("ring:nodes=5").targets.__getitem__))
        [[0], [1, 4], [2, 3]]
    """
    level = list(dict.fromkeys(start))
    seen = set(level)
    while level:
        yield level
        level = list(dict.fromkeys(other for node in level for other in after(node) if other not in seen))
        seen.update(level)


def hops(start: Iterable[Place], after: After[Place]) -> dict[Place, int]:
    """Return the number of links from `start` to each node that is reached, in the order of the walk."""
    return {node: number for number, level in enumerate(levels(start, after)) for node in level}


def reached(start: Iterable[Place], after: After[Place]) -> set[Place]:
    """Return `start` and all nodes that can be reached from it."""
    found = set(start)
    level = set(found)
    while level:
        level = set().union(*map(after, level)) - found
        found |= level
    return found


def joined(places: Iterable[Place], pairs: Iterable[tuple[Place, Place]]) -> list[list[Place]]:
    """Return `places` in groups that pairs join, also over other places.

    Example:
        >>> joined(range(5), [(0, 3), (3, 1)])
        [[0, 1, 3], [2], [4]]
    """
    above: dict[Place, Place] = {}

    def top(place: Place) -> Place:
        above.setdefault(place, place)
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for one, other in pairs:
        above[top(one)] = top(other)
    found: dict[Place, list[Place]] = {}
    for place in places:
        found.setdefault(top(place), []).append(place)
    return list(found.values())


def shortest_paths(start: Place, after: After[Place]) -> dict[Place, tuple[Place, ...]]:
    """Return a path with the fewest links to each node that is reached, with both ends; `start` has a path of one node.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> shortest_paths(0, build_topology("ring:nodes=5").targets.__getitem__)[3]
        (0, 4, 3)
    """
    found: dict[Place, tuple[Place, ...]] = {start: (start,)}
    queue = [start]
    for node in queue:
        for other in after(node):
            if other not in found:
                found[other] = (*found[node], other)
                queue.append(other)
    return found


def cheapest(
    start: Mapping[Place, Cost], onwards: Callable[[Place, Cost], Iterable[tuple[Place, Cost]]]
) -> dict[Place, Cost]:
    """Return the least cost of each node that is reached, in the order of the costs (E. W. Dijkstra, 1959).

    Args:
        start: the nodes to begin at, with their costs.
        onwards: returns for a node and its cost the nodes after it, each with its cost on this way, which is not less.

    Example:
        >>> cheapest({"a": 0}, lambda node, cost: [("b", cost + 5), ("c", cost + 1)] if node == "a" else [("b", 3)])
        {'a': 0, 'c': 1, 'b': 3}
    """
    heap = [(cost, node) for node, cost in start.items()]
    heapify(heap)
    found: dict[Place, Cost] = {}
    while heap:
        cost, node = heappop(heap)
        if node not in found:
            found[node] = cost
            for other, further in onwards(node, cost):
                if other not in found:
                    heappush(heap, (further, other))
    return found


def fewest_counted(start: Iterable[int], after: After[int], counted: Collection[int]) -> dict[int, int]:
    """Return for each node that is reached the least number of counted nodes on the way to it, after its first node.

    The result has the order of these numbers, then that of the nodes.

    Args:
        start: the nodes to begin at.
        after: returns the nodes after a node.
        counted: the nodes that count.

    Example:
        >>> fewest_counted([0], {0: [1, 2], 1: [2], 2: [3], 3: []}.__getitem__, {2, 3})
        {0: 0, 1: 0, 2: 1, 3: 2}
    """
    found: dict[int, int] = {}
    seen, level, number = set(start), list(start), 0
    while level:
        following: list[int] = []
        for node in level:
            for other in after(node):
                if other not in seen:
                    seen.add(other)
                    (following if other in counted else level).append(other)
        found |= dict.fromkeys(sorted(level), number)
        level, number = following, number + 1
    return found


def onwards(topology: Topology, costs: Sequence[Cost]) -> Callable[[int, Cost], Iterable[tuple[int, Cost]]]:
    """Return the argument of `cheapest` for walks over links with these `costs`, in the order of the links."""
    links, leaving = topology.links, topology.leaving
    return lambda node, cost: [(links[number].target, cost + costs[number]) for number in leaving[node]]


def reached_from(topology: Topology, start: Iterable[int], *, backwards: bool = False) -> set[int]:
    """Return `start` and all nodes reachable from it; if `backwards`, `start` and all nodes that can reach it."""
    return reached(start, (topology.sources if backwards else topology.targets).__getitem__)


def unreachable_pair(topology: Topology, wanted: Sequence[int]) -> tuple[int, int] | None:
    """Return two of the nodes `wanted` such that the first cannot reach the second, or None if there are none."""
    first = wanted[0]
    forward = unreachable_from(topology, first, wanted)
    return forward or unreachable_from(topology, first, wanted, backwards=True)


def unreachable_from(
    topology: Topology, root: int, wanted: Sequence[int], *, backwards: bool = False
) -> tuple[int, int] | None:
    """Return the root and a node of `wanted` that it cannot reach, or None if there is none.

    If `backwards`, return a node of `wanted` that cannot reach the root, and the root.
    """
    missed = _first_missed(wanted, reached_from(topology, [root], backwards=backwards))
    if missed is None:
        return None
    return (missed, root) if backwards else (root, missed)


def _first_missed(wanted: Iterable[int], reached: set[int]) -> int | None:
    return next((number for number in wanted if number not in reached), None)
