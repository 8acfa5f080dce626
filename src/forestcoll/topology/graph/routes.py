"""The route of a send between two compute nodes, for algorithms that name only the pair.

It is the widest of the shortest paths whose interior nodes are switches. The width of a path is the least bandwidth of
its links. Among equally wide paths, the one with lower node numbers is chosen, so that results are the same each time.

Algorithms that work in steps can pass data through compute nodes, too. If there is no path through switches, their
route is the widest of the shortest paths through any nodes; among equally wide paths, the first that is found.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from forestcoll.topology import Topology

Path: TypeAlias = tuple[int, ...]
"""The nodes of a route, with both ends."""

Reached: TypeAlias = tuple[int | None, Path]
"""The width of a path and the path; None for the empty path, which has no width.

A width is the place of a bandwidth in the order of all bandwidths, from 1: integers are compared faster than fractions.
"""


class Routes:
    """The routes of a network, found when they are needed.

    Args:
        topology: the network.
        within: the nodes that routes may visit; None for all.

    Attributes:
        bandwidths: the bandwidth of each link, by its ends.
    """

    def __init__(self, topology: Topology, within: Collection[int] | None = None) -> None:
        self._topology = topology
        self.bandwidths = topology.bandwidths
        allowed = frozenset(range(len(topology.nodes)) if within is None else within)
        kept = {ends: each for ends, each in self.bandwidths.items() if ends[0] in allowed and ends[1] in allowed}
        widths = {each: place for place, each in enumerate(sorted(set(kept.values())), start=1)}
        self._after: list[dict[int, int]] = [{} for _ in topology.nodes]
        for (source, target), bandwidth in kept.items():
            self._after[source][target] = widths[bandwidth]
        self._before: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
        for source, after in enumerate(self._after):
            for target, width in after.items():
                self._before[target].append((source, width))
        switches = frozenset(topology.switches)
        self._switches = [[each for each in after.items() if each[0] in switches] for after in self._after]
        self._levels: dict[int, list[dict[int, Reached]]] = {}
        self._before_through_any: dict[int, Mapping[int, int]] = {}

    def find(self, source: int, target: int) -> Path | None:
        """Return the nodes of the route, with both ends; None if only paths through compute nodes exist."""
        if source == target:
            return None
        if source not in self._levels:
            self._levels[source] = self._search(source)
        for level in self._levels[source]:
            if target in level:
                return level[target][1]
            best: Reached | None = None
            for node, bandwidth in self._before[target]:
                if node in level:
                    best = _wider(best, bandwidth, *level[node])
            if best is not None:
                return (*best[1], target)
        return None

    def find_any(self, source: int, target: int) -> Path:
        """Return the nodes of the route, with both ends, through compute nodes if no path through switches exists.

        Raises:
            KeyError: no path exists.
        """
        route = self.find(source, target)
        if route is not None:
            return route
        if source not in self._before_through_any:
            self._before_through_any[source] = self._search_any(source)
        before, path = self._before_through_any[source], [target]
        while path[-1] != source:
            path.append(before[path[-1]])
        return tuple(reversed(path))

    def width(self, path: Path) -> Fraction:
        """Return the least bandwidth of the links of a path."""
        return min(self.bandwidths[hop] for hop in pairwise(path))

    def _search(self, source: int) -> list[dict[int, Reached]]:
        """Return the switches at each distance from `source`, each with its widest path, after `source` itself."""
        levels: list[dict[int, Reached]] = [{source: (None, (source,))}]
        seen = {source}
        while levels[-1]:
            following: dict[int, Reached] = {}
            for node, (width, path) in levels[-1].items():
                for target, bandwidth in self._switches[node]:
                    if target not in seen:
                        following[target] = _wider(following.get(target), bandwidth, width, (*path, target))
            seen.update(following)
            levels.append(dict(sorted(following.items())))
        return levels

    def _search_any(self, source: int) -> Mapping[int, int]:
        """Return, for each other node, the node before it on its route through any nodes.

        Routes are found level by level, in the order in which nodes are found.
        """
        before: dict[int, int] = {}
        level: dict[int, int | None] = {source: None}
        while level:
            following: dict[int, int] = {}
            for node, width in level.items():
                for target, bandwidth in self._after[node].items():
                    reached = bandwidth if width is None else min(width, bandwidth)
                    is_new = target != source and (target not in before or target in following)
                    if is_new and reached > following.get(target, 0):
                        following[target], before[target] = reached, node
            level = dict(following)
        return before


def _wider(known: Reached | None, bandwidth: int, width: int | None, path: Path) -> Reached:
    """Return the wider of a known path and `path`, which has a width and one more link; the known one if equal."""
    reached = bandwidth if width is None else min(width, bandwidth)
    return known if known is not None and known[0] is not None and known[0] >= reached else (reached, path)
