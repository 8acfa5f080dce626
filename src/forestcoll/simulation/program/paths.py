"""The links over which data goes from one rank to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.base.errors import InputError
from forestcoll.programs.lowering.pair_links import Pair, pair_paths
from forestcoll.schedule.flows.expansion import flow_images
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import over_switches, shortest_paths


@dataclass(frozen=True, slots=True)
class Multipath:
    """The paths that data takes from one rank to another, with the part of the data on each link.

    Attributes:
        links: the numbers of the links.
        weights: for each link, the part of the data that crosses it.
        latency_us: the latency that the network states for the slowest of the paths, in microseconds.
    """

    links: tuple[int, ...]
    weights: tuple[float, ...]
    latency_us: float


class Paths:
    """The paths between ranks: those of a schedule or, for other pairs, a path with the fewest links."""

    def __init__(
        self, topology: Topology, members: tuple[int, ...], used: Mapping[Pair, Mapping[tuple[int, ...], float]]
    ) -> None:
        """Use the paths in `used` for the pairs of ranks that are its keys.

        Args:
            topology: the network.
            members: for each rank, the number of its node.
            used: for each pair of ranks, paths as node numbers, and the amount of data on each path.
        """
        self.topology, self.members = topology, members
        self._numbers = topology.link_numbers
        self._multipaths = {pair: self._multipath(paths) for pair, paths in used.items()}
        self._shortest: dict[int, dict[int, tuple[int, ...]]] = {}

    @staticmethod
    def shortest(schedule: Schedule) -> "Paths":
        """Return paths with the fewest links for all pairs of ranks of `schedule`."""
        return Paths(schedule.topology, schedule.members, {})

    @staticmethod
    def of(schedule: TreeSchedule) -> "Paths":
        """Return the paths that `schedule` uses; a pair with several divides its data as the schedule does."""
        return Paths(schedule.topology, schedule.members, pair_paths(schedule))

    @staticmethod
    def of_flows(schedule: FlowSchedule) -> "Paths":
        """Return the routes of `schedule` as paths; a pair with several divides its data as the schedule does."""
        ranks = {node: rank for rank, node in enumerate(schedule.members)}
        used: dict[Pair, dict[tuple[int, ...], float]] = {}
        for flow in flow_images(schedule):
            for path in flow.paths:
                if path[0] in ranks and path[-1] in ranks:
                    parts = used.setdefault((ranks[path[0]], ranks[path[-1]]), {})
                    parts[path] = parts.get(path, 0.0) + float(flow.share)
        return Paths(schedule.topology, schedule.members, used)

    def between(self, source: int, target: int) -> Multipath:
        """Return the paths from rank `source` to rank `target`. Raises `InputError` if there is none.

        From a rank to itself there are no links.
        """
        if source == target:
            return Multipath((), (), 0.0)
        if (source, target) not in self._multipaths:
            self._multipaths[source, target] = self._multipath({self._fewest_links(source, target): 1.0})
        return self._multipaths[source, target]

    def check_ways_back(self) -> None:
        """Check that each rank that receives reaches the rank that sends to it. Raises `InputError` if one does not."""
        for source, target in list(self._multipaths):
            self.between(target, source)

    def _multipath(self, paths: Mapping[tuple[int, ...], float]) -> Multipath:
        total = sum(paths.values())
        weights: dict[int, float] = {}
        latency = 0.0
        for path, part in paths.items():
            links = [self._numbers[hop] for hop in pairwise(path)]
            latency = max(latency, sum(float(self.topology.links[link].latency_us or 0) for link in links))
            for link in links:
                weights[link] = weights.get(link, 0.0) + part / total
        return Multipath(tuple(weights), tuple(weights.values()), latency)

    def _fewest_links(self, source: int, target: int) -> tuple[int, ...]:
        if source not in self._shortest:
            self._shortest[source] = self._tree(self.members[source])
        node = self.members[target]
        if node not in self._shortest[source]:
            ids = self.topology.ids([self.members[source], node])
            raise InputError(f"{self.topology.name}: no path leads from {ids[0]!r} to {ids[1]!r} over switches alone")
        return self._shortest[source][node]

    def _tree(self, start: int) -> dict[int, tuple[int, ...]]:
        """Return, for each node that `start` reaches over switches, a path with the fewest links."""
        return shortest_paths(start, over_switches(self.topology, start))
