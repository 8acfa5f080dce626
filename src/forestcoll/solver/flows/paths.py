"""Paths of a flow: a flow of one source over links is a sum of paths from the source to its targets.

A walk from the source follows links that carry flow until it reaches a node that still needs data; the least flow on
the walk, or the need, becomes a path and is subtracted. A walk that returns to a node found a cycle, which delivers
nothing and is subtracted alone. Each step makes the flow of a link or the need of a node 0, so there are at most as
many paths as links and nodes.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import shortest_paths

NodePath = tuple[int, ...]

GRID = 2**20
"""The number of equal parts into which the data of a pair is divided if its flow is not exact."""

_SCALE = 2**48
"""One unit of M, in the integers to which a flow in floating point is rounded."""


def whole_paths(
    topology: Topology, flow: Sequence[int], source: int, needs: Mapping[int, int]
) -> list[tuple[NodePath, int]]:
    """Return paths from `source` and their amounts, which add up to `needs`, the need of each target.

    Args:
        topology: the network.
        flow: the flow of the source over each link. If the flow is not exact, some need may remain.
        source: the number of the source.
        needs: the need of each target.
    """
    return _Walks(topology, flow, source, needs).paths()


def exact_paths(
    topology: Topology, flow: Sequence[Fraction], source: int, needs: Mapping[int, Fraction]
) -> list[tuple[NodePath, Fraction]]:
    """Return paths as `whole_paths` does, for a flow in fractions."""
    known = {id(each): each for each in (*flow, *needs.values())}  # the hash of a fraction takes long
    whole = lcm(*{each.denominator for each in known.values()})
    units = {key: int(each * whole) for key, each in known.items()}
    found = whole_paths(
        topology, [units[id(each)] for each in flow], source, {node: units[id(need)] for node, need in needs.items()}
    )
    shares = {amount: Fraction(amount, whole) for _, amount in found}
    return [(nodes, shares[amount]) for nodes, amount in found]


def rounded_paths(
    topology: Topology, flow: Sequence[float], source: int, needs: Mapping[int, Fraction]
) -> list[tuple[NodePath, Fraction]]:
    """Return paths whose shares add up to `needs` exactly, near a flow in floating point.

    The data of each target is divided into `GRID` equal parts, which its paths share by largest remainders. A target
    that the flow misses gets a path with the fewest links.
    """
    whole = [max(0, round(each * _SCALE)) for each in flow]
    found = whole_paths(topology, whole, source, {node: max(1, round(need * _SCALE)) for node, need in needs.items()})
    by_target: dict[int, list[tuple[NodePath, int]]] = {}
    for nodes, amount in found:
        by_target.setdefault(nodes[-1], []).append((nodes, amount))
    missed = set(needs).difference(by_target)
    shortest = shortest_paths(source, topology.targets.__getitem__) if missed else {}
    by_target |= {node: [(shortest[node], 1)] for node in missed}
    return [
        (nodes, need * Fraction(count, GRID))
        for node, need in needs.items()
        for nodes, count in _in_parts(by_target[node])
    ]


def _in_parts(paths: Sequence[tuple[NodePath, int]]) -> list[tuple[NodePath, int]]:
    """Return how many of `GRID` parts each path carries, in proportion to its amount."""
    total = sum(amount for _, amount in paths)
    counts = [GRID * amount // total for _, amount in paths]
    rests = sorted(range(len(paths)), key=lambda place: (counts[place] * total - GRID * paths[place][1], place))
    for place in rests[: GRID - sum(counts)]:
        counts[place] += 1
    return [(nodes, count) for (nodes, _), count in zip(paths, counts, strict=True) if count]


class _Walks:
    """The walks of one source."""

    def __init__(self, topology: Topology, flow: Sequence[int], source: int, needs: Mapping[int, int]) -> None:
        self._source, self._needs = source, {node: need for node, need in needs.items() if need}
        self._left = list(flow)
        self._heads = [link.target for link in topology.links]
        self._leaving = [[place for place in places if flow[place] > 0] for places in topology.leaving]

    def paths(self) -> list[tuple[NodePath, int]]:
        found: dict[NodePath, int] = {}
        while self._needs:
            links = self._walk()
            if not links:
                break
            nodes = (self._source, *(self._heads[link] for link in links))
            amount = min(self._needs[nodes[-1]], *(self._left[link] for link in links))
            self._subtract(links, amount)
            self._needs[nodes[-1]] -= amount
            if not self._needs[nodes[-1]]:
                del self._needs[nodes[-1]]
            found[nodes] = found.get(nodes, 0) + amount
        return list(found.items())

    def _walk(self) -> list[int]:
        """Return the links of a walk to a node that needs data; no links if there is none."""
        node, links, places = self._source, list[int](), {self._source: 0}
        while node == self._source or node not in self._needs:
            link = self._next(node)
            if link is None and not links:
                return []
            if link is None:  # only if the flow is not exact: what enters this node does not leave it
                self._left[links.pop()] = 0
                node, links, places = self._source, [], {self._source: 0}
                continue
            node = self._heads[link]
            links.append(link)
            if node in places:
                cycle = links[places[node] :]
                self._subtract(cycle, min(self._left[each] for each in cycle))
                node, links, places = self._source, [], {self._source: 0}
            places[node] = len(links)
        return links

    def _next(self, node: int) -> int | None:
        """Return a link with flow that leaves `node`, or None."""
        leaving = self._leaving[node]
        while leaving and not self._left[leaving[-1]]:
            leaving.pop()
        return leaving[-1] if leaving else None

    def _subtract(self, links: Sequence[int], amount: int) -> None:
        for link in links:
            self._left[link] -= amount
