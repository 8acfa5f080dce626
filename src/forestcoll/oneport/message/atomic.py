"""One message that is not divided (atomic broadcast, §8): the tree and the order of sends with the least total time.

A node that has the message sends it to one node after the other. The problem is NP-hard. Trees are grown by four
heuristics of the literature, each of which chooses the next send among those from a node that has the message to one
that has not:

- fastest node first (Banikazemi, Moorthy and Panda 1998): the sender that can start first, and then the receiver that
  sends fastest;
- fastest edge first (Bhat, Raghavendra and Prasanna 1999): the fastest link;
- earliest completing edge first (the same authors): the send that ends first;
- look-ahead (the same authors): the least sum of the end of the send and the fastest link that leaves the receiver.

Each node of a tree then sends first to the node below which the longest time remains (Jackson's rule, optimal for a
tree).
Local search moves one node at a time below another one. For few nodes, branch and bound finds the optimum: it lists
sends in the order of their start, and omits a list if the nodes that are missing cannot be reached in time. If nodes
use all their links at once and there are no switches, a tree of shortest paths is optimal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InputError, InternalError, plural
from forestcoll.base.progress import SILENT, Progress
from forestcoll.oneport.message.pipeline_bound import doubling_time, farthest, packet_times
from forestcoll.oneport.message.waves import FINE, Key, Route, Wave, WaveBuilder
from forestcoll.oneport.platform.logical import logical_arcs, outwards
from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.series.timetable import PacketSend, Timetable
from forestcoll.topology import NodeId, TopologyLike
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.topology.registry import load_topology

MAX_EXACT_NODES = 9
"""The maximum number of compute nodes for branch and bound."""

_MAX_LISTS = 200_000
_MAX_PASSES = 4
_MAX_MOVED_NODES = 128

Routes = tuple[Route, ...]


class AtomicHeuristic(StrEnum):
    """A heuristic of the literature for an atomic broadcast.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import atomic_broadcast
        >>> sorted(each.value for each in atomic_broadcast(load_topology("ring:nodes=3"), 0, 1000).heuristics)
        ['earliest-completing-edge-first', 'fastest-edge-first', 'fastest-node-first', 'look-ahead']
    """

    FASTEST_NODE_FIRST = "fastest-node-first"
    FASTEST_EDGE_FIRST = "fastest-edge-first"
    EARLIEST_COMPLETING_EDGE_FIRST = "earliest-completing-edge-first"
    LOOK_AHEAD = "look-ahead"


@dataclass(frozen=True)
class AtomicPlan:
    """The broadcast of one message that is not divided.

    Attributes:
        size: the size of the message in bytes.
        routes: the tree: links, or paths through switches.
        timetable: the times of all sends.
        bound: a lower bound on the time, in microseconds; the time itself if it is known to be the least.
        heuristics: the time by each heuristic, in microseconds.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import atomic_broadcast
        >>> plan = atomic_broadcast(load_topology("ring:nodes=4"), 0, 1000)
        >>> str(plan.makespan), plan.optimal
        ('2', True)
    """

    size: int
    routes: Routes
    timetable: Timetable
    bound: Fraction
    heuristics: Mapping[AtomicHeuristic, Fraction]

    @property
    def makespan(self) -> Fraction:
        """The time of the last arrival, in microseconds."""
        return self.timetable.makespan

    @property
    def optimal(self) -> bool:
        """Whether no schedule is known to be possibly faster: the time equals the bound."""
        return self.makespan == self.bound


def atomic_broadcast(topology: TopologyLike, source: NodeId, size: int, *, progress: Progress = SILENT) -> AtomicPlan:
    """Return the fastest known broadcast of one message that is not divided.

    Args:
        topology: the network. A message takes `latency_us` + size / bandwidth over a link.
        source: the id of a compute node or, if no node has that id, its position among the compute nodes.
        size: the size of the message in bytes, 1 or more.
        progress: receives the stages.

    Returns:
        The plan. It is optimal if the network has one port per node, no switches and at most `MAX_EXACT_NODES` compute
        nodes, unless branch and bound takes too long, and if nodes use all their links at once without switches.

    Raises:
        InputError: the source is unknown or a switch, `size` is less than 1, the unit of bandwidths is unknown, or
            links of a node share a bandwidth.
        NoSolutionError: a compute node cannot be reached.

    Example:
        >>> from dataclasses import replace
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import atomic_broadcast
        >>> ring = replace(load_topology("ring:nodes=5"), port_model="one-port")
        >>> str(atomic_broadcast(ring, 0, 1000).makespan)
        '3'
    """
    network = without_overheads(load_topology(topology))
    if size < 1:
        raise InputError(f"size is {plural(size, 'byte')}; expected 1 or more")
    if shared_bandwidths(network, SEND_LIMIT) or shared_bandwidths(network, RECEIVE_LIMIT):
        raise InputError(
            f"{network.name}: links of a node share a bandwidth, so a message has no fixed time over a link; use "
            "pipelined_broadcast with packets=1"
        )
    progress.begin("searching for the fastest tree")
    return atomic_plan(Platform.of(network, source, packet_times(network, size)), size)


def atomic_plan(platform: Platform, size: int, *, exact: bool = True) -> AtomicPlan:
    """Return the fastest known broadcast; the costs of `platform` are the times of the message in microseconds.

    Without `exact` there is no branch and bound.
    """
    search = _Atomic(platform)
    grown = {heuristic: search.grown(heuristic) for heuristic in AtomicHeuristic}
    best = search.improved(min(grown.values(), key=lambda wave: wave.cycle))
    bound = Fraction(search.bound, search.scale)
    if exact and best.cycle > search.bound and search.may_be_exact:
        best, complete = search.exact(best)
        bound = Fraction(best.cycle, search.scale) if complete else bound
    return AtomicPlan(
        size=size,
        routes=outwards(best.trees[0], platform.source),
        timetable=search.timetable(best),
        bound=bound,
        heuristics={heuristic: Fraction(wave.cycle, search.scale) for heuristic, wave in grown.items()},
    )


def heuristic_trees(platform: Platform) -> Mapping[AtomicHeuristic, Routes]:
    """Return the tree of each heuristic if a message takes the time `platform.costs` over the links."""
    search = _Atomic(platform)
    return {each: outwards(search.grown(each).trees[0], platform.source) for each in AtomicHeuristic}


class _Atomic:
    """The search on one platform. Times are integers in units of 1/`scale`."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.scale = lcm(*(cost.denominator for cost in platform.costs))
        self._times = [int(cost * self.scale) for cost in platform.costs]
        self._routes: dict[int, list[Route]] = {}
        for route in logical_arcs(platform, self._times).routes:
            self._routes.setdefault(route[0], []).append(route)
        self._builder = WaveBuilder(platform, self._times)
        doubling = doubling_time(platform, self._times, 1) if platform.sends_one_at_a_time else 0
        self.bound = max(doubling, int(farthest(platform, [platform.source], self._times)))
        plain = platform.sends_one_at_a_time and not platform.topology.switches
        self.may_be_exact = plain and len(platform.topology.compute) <= MAX_EXACT_NODES

    def grown(self, heuristic: AtomicHeuristic) -> Wave:
        """Return the broadcast by a heuristic."""
        return _placed(self._builder.grown(self._routes, 1, None, key=self._keys()[heuristic]))

    def _keys(self) -> Mapping[AtomicHeuristic, Key]:
        numbers, times = self._platform.topology.link_numbers, self._times
        fastest = {
            node: min(sum(times[link] for link in self._platform.links_of(route)) for route in routes)
            for node, routes in self._routes.items()
        }
        slow = sum(times)  # nodes that cannot send come last

        def end(route: Route, starts: Sequence[int]) -> int:
            return starts[-1] + times[numbers[route[-2], route[-1]]]

        def ahead(route: Route) -> int:
            return fastest.get(route[-1], slow)

        keys: dict[AtomicHeuristic, Callable[[Route, Sequence[int]], int]] = {
            AtomicHeuristic.FASTEST_NODE_FIRST: lambda route, starts: starts[0] * FINE + ahead(route),
            AtomicHeuristic.FASTEST_EDGE_FIRST: lambda route, _: sum(
                times[link] for link in self._platform.links_of(route)
            ),
            AtomicHeuristic.EARLIEST_COMPLETING_EDGE_FIRST: end,
            AtomicHeuristic.LOOK_AHEAD: lambda route, starts: end(route, starts) + ahead(route),
        }
        return {each: _of_packet(key) for each, key in keys.items()}

    def along(self, tree: Routes) -> Wave:
        """Return the fastest broadcast along a tree."""
        return _placed(self._builder.along([tree], None))

    def improved(self, start: Wave) -> Wave:
        """Return a broadcast that is not slower, found by moving one node at a time below another one."""
        best = min(start, self.along(start.trees[0]), key=lambda wave: wave.cycle)
        if len(self._platform.topology.compute) > _MAX_MOVED_NODES:
            return best
        entering: dict[int, list[Route]] = {}
        for routes in self._routes.values():
            for route in routes:
                entering.setdefault(route[-1], []).append(route)
        for _ in range(_MAX_PASSES):
            before = best.cycle
            for node in self._platform.destinations:
                for route in entering[node]:
                    moved = _moved(best.trees[0], route, self._platform.source)
                    if moved is not None:
                        best = min(best, self.along(moved), key=lambda wave: wave.cycle)
            if best.cycle == before:
                break
        return best

    def exact(self, known: Wave) -> tuple[Wave, bool]:
        """Return the fastest broadcast by branch and bound, and whether the search was complete."""
        links, least = self._platform.topology.links, known.cycle
        distances = self._distances()
        count, chosen = 0, None
        stack: list[tuple[int, dict[int, int], tuple[int, ...]]] = [(0, {self._platform.source: 0}, ())]
        while stack and count < _MAX_LISTS:
            now, free, sends = stack.pop()
            count += 1
            if self._late(free, distances, least):
                continue
            for number, link in enumerate(links):
                start = free.get(link.source, -1)
                if link.target in free or start < now:
                    continue
                end = start + self._times[number]
                after = free | {link.source: end, link.target: end}
                if len(after) < len(self._platform.topology.compute):
                    stack.append((start, after, (*sends, number)))
                elif self._end((*sends, number)) < least:
                    least, chosen = self._end((*sends, number)), (*sends, number)
        if chosen is None:
            return known, not stack
        tree = outwards(((links[number].source, links[number].target) for number in chosen), self._platform.source)
        return self.along(tree), not stack

    def _end(self, sends: Sequence[int]) -> int:
        """Return the end of the last of `sends`, each as early as the ones before it allow."""
        links, free, last = self._platform.topology.links, {self._platform.source: 0}, 0
        for number in sends:
            end = free[links[number].source] + self._times[number]
            free[links[number].source] = free[links[number].target] = end
            last = max(last, end)
        return last

    def _distances(self) -> dict[int, dict[int, int]]:
        """Return the least time from each compute node to each other one without waiting (Floyd and Warshall)."""
        compute = self._platform.topology.compute
        distances: dict[int, dict[int, int]] = {node: {node: 0} for node in compute}
        for link, time in zip(self._platform.topology.links, self._times, strict=True):
            distances[link.source][link.target] = time
        for middle in compute:
            for node in compute:
                if middle in distances[node]:
                    for target, time in distances[middle].items():
                        through = distances[node][middle] + time
                        distances[node][target] = min(through, distances[node].get(target, through))
        return distances

    def _late(self, free: Mapping[int, int], distances: Mapping[int, Mapping[int, int]], least: int) -> bool:
        """Return whether a node without the message cannot have it before the time `least`."""
        for node in self._platform.destinations:
            if node not in free:
                arrivals = [begin + distances[one][node] for one, begin in free.items() if node in distances[one]]
                if min(arrivals) >= least:
                    return True
        return False

    def timetable(self, wave: Wave) -> Timetable:
        """Return the sends of a broadcast, with times in microseconds."""
        sends = [PacketSend(Fraction(send.start, self.scale), 0, send.link) for send in wave.sends]
        return Timetable(
            topology=self._platform.topology,
            source=self._platform.source,
            packets=1,
            times=self._platform.costs,
            sends=tuple(sorted(sends, key=lambda send: (send.start, send.link))),
        )


def _of_packet(key: Callable[[Route, Sequence[int]], int]) -> Key:
    """Return a key that does not depend on the packet."""

    def of_packet(_packet: int, route: Route, starts: Sequence[int]) -> int:
        return key(route, starts)

    return of_packet


def _placed(wave: Wave | None) -> Wave:
    """Return a wave without a cycle, in which every send can be placed."""
    if wave is None:
        raise InternalError("a tree does not reach every node")
    return wave


def _moved(tree: Routes, route: Route, source: int) -> Routes | None:
    """Return the tree with `route` into its end instead of the present one, or None if this gives no tree."""
    routes = {each[-1]: each for each in tree}
    if routes[route[-1]] == route:
        return None
    node = route[0]
    while node != source:
        if node == route[-1]:
            return None
        node = routes[node][0]
    routes[route[-1]] = route
    return outwards(routes.values(), source)
