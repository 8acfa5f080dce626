"""Over which links data goes from one rank to another."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.collective import PhaseOp
from forestcoll.errors import InputError
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """What a byte from one rank to another puts on the links.

    Attributes:
        links: numbers of links.
        weights: of each of them, the part of the byte that crosses it.
        latency_us: what the network states of the latency of the way, in microseconds.
    """

    links: tuple[int, ...]
    weights: tuple[float, ...]
    latency_us: float


class Paths:
    """The ways between ranks: as a schedule sends there, else over as few links as can be."""

    def __init__(
        self, topology: Topology, members: tuple[int, ...], used: Mapping[Pair, Mapping[tuple[int, ...], float]]
    ) -> None:
        """Know the ways of `used`: of pairs of ranks, paths of node numbers and how much goes over each.

        `members` are the nodes of the ranks.
        """
        self.topology, self.members = topology, members
        self._numbers = {(link.source, link.target): place for place, link in enumerate(topology.links)}
        self._ways = {pair: self._way(paths) for pair, paths in used.items()}
        self._shortest: dict[int, dict[int, tuple[int, ...]]] = {}

    @staticmethod
    def shortest(schedule: Schedule) -> "Paths":
        """Return the ways over as few links as can be."""
        return Paths(schedule.topology, schedule.members, {})

    @staticmethod
    def of(schedule: TreeSchedule) -> "Paths":
        """Return the ways that `schedule` uses: a pair with several shares what goes between them as they do."""
        schedule = expanded(schedule)
        ranks = {node: rank for rank, node in enumerate(schedule.members)}
        used: dict[Pair, dict[tuple[int, ...], float]] = {}
        rows = list(schedule.routes)
        for phase in schedule.phases:
            for tree in phase:
                joined = _joined([rows[route] for route in tree.routes], phase.op, ranks)
                for path in joined:
                    paths = used.setdefault((ranks[path[0]], ranks[path[-1]]), {})
                    paths[path] = paths.get(path, 0.0) + float(tree.share)
        return Paths(schedule.topology, schedule.members, used)

    def way(self, source: int, target: int) -> Way:
        """Return the way from a rank to another. Raises `InputError` if there is none."""
        if (source, target) not in self._ways:
            self._ways[source, target] = self._way({self._fewest_links(source, target): 1.0})
        return self._ways[source, target]

    def _way(self, paths: Mapping[tuple[int, ...], float]) -> Way:
        total = sum(paths.values())
        weights: dict[int, float] = {}
        latency = 0.0
        for path, part in paths.items():
            links = [self._numbers[hop] for hop in pairwise(path)]
            latency = max(latency, sum(float(self.topology.links[link].latency_us or 0) for link in links))
            for link in links:
                weights[link] = weights.get(link, 0.0) + part / total
        return Way(tuple(weights), tuple(weights.values()), latency)

    def _fewest_links(self, source: int, target: int) -> tuple[int, ...]:
        if source not in self._shortest:
            self._shortest[source] = self._tree(self.members[source])
        node = self.members[target]
        if node not in self._shortest[source]:
            ids = self.topology.ids([self.members[source], node])
            raise InputError(f"{self.topology.name}: no way leads from {ids[0]!r} to {ids[1]!r} over switches alone")
        return self._shortest[source][node]

    def _tree(self, start: int) -> dict[int, tuple[int, ...]]:
        """Return a path with the fewest links from node `start` to each that it reaches over switches."""
        after: dict[int, list[int]] = {}
        for link in self.topology.links:
            after.setdefault(link.source, []).append(link.target)
        found: dict[int, tuple[int, ...]] = {start: (start,)}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            if node != start and self.topology.nodes[node].is_compute:
                continue
            for other in after.get(node, ()):
                if other not in found:
                    found[other] = (*found[node], other)
                    waiting.append(other)
        return found


def _joined(paths: list[tuple[int, ...]], op: PhaseOp, ranks: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return the paths between ranks that routes make which meet on switches that multicast or aggregate."""
    outward = paths if op is PhaseOp.BROADCAST else [path[::-1] for path in reversed(paths)]
    above: dict[int, tuple[int, ...]] = {}
    joined = []
    for path in outward:
        whole = path if path[0] in ranks else (*above[path[0]], *path[1:])
        above[path[-1]] = whole
        if path[-1] in ranks:
            joined.append(whole if op is PhaseOp.BROADCAST else whole[::-1])
    return joined
