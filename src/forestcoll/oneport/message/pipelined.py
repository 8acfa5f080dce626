"""One large message in packets (§6): the number of packets, their trees, and the times of all sends.

A packet of n bytes takes beta + n c over a link. There are two kinds of plans:

- In a wave (`waves`), a node forwards a packet as soon as its ports are free. Trees are chosen for the size of the
  message: low trees for a few packets, trees that use all ports for many.
- If there are too many sends to list, a node forwards in each cycle the packets of the cycle before (`layered`), along
  the trees of the optimum in rounded proportions, or along a single tree. Then new trees are chosen for the time of a
  packet of that size, start-up included. This is repeated while the plan becomes faster.

The fastest plan is returned, with a lower bound of the time of any broadcast (`pipeline_bound`). If links of a node
share a bandwidth, plans are made for fixed parts of it (`shared_bandwidth`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

from forestcoll.base.errors import InputError, plural
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import data_size
from forestcoll.oneport.message.layered import TimedForest, WeightedTrees, forests_of, speed
from forestcoll.oneport.message.pipeline_bound import PipelineBound, packet_times, pipeline_bound, shared_bound
from forestcoll.oneport.message.wave_search import FoundWave, WaveSearch
from forestcoll.oneport.platform.logical import outwards
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.platform.shared_bandwidth import divided
from forestcoll.oneport.series.best_tree import best_tree
from forestcoll.oneport.series.optimum import steady_optimum
from forestcoll.oneport.series.periodic import periodic_schedule
from forestcoll.schedule.series.timetable import PacketSend, Timetable
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.topology.model import BOUNDED
from forestcoll.topology.registry import load_topology

_MAX_ITERATIONS = 3
"""The maximum number of times that trees are chosen again for the best packet size."""


@dataclass(frozen=True)
class PipelinePlan:
    """A plan for sending one message in packets.

    Attributes:
        topology: the network. If links of a node share a bandwidth, each link has the part of it that it uses.
        source: the number of the compute node that has the message.
        size: L, in bytes.
        packets: the number of packets. The last cycle may have fewer packets than the others.
        packet_size: the size of each packet in bytes. The last packet may be smaller.
        trees: the trees, with the number of packets per cycle as weights.
        cycle: the length of a cycle, in microseconds.
        makespan: the time from the first send to the last arrival or, without a timetable, to the end of the last
            cycle, in microseconds.
        bounds: lower bounds for all broadcasts of the message, in packets of any sizes.
        timetable: the times of all sends. None if there are too many sends; then a node forwards in each cycle the
            packets that it received in the cycle before.

    Example:
        >>> from forestcoll import load_topology, verify
        >>> from forestcoll.oneport import pipelined_broadcast
        >>> plan = pipelined_broadcast(load_topology("ring:nodes=3"), 0, 3000, packets=3)
        >>> plan.cycles, plan.height, verify(plan.schedule()).ok
        (3, 1, True)
    """

    topology: Topology
    source: int
    size: int
    packets: int
    packet_size: int
    trees: tuple[SeriesTree, ...]
    cycle: Fraction
    makespan: Fraction
    bounds: PipelineBound
    timetable: Timetable | None = None

    @property
    def bound(self) -> Fraction:
        """A lower bound for all broadcasts of the message, in microseconds."""
        return self.bounds.time

    @property
    def packets_per_cycle(self) -> int:
        """M."""
        return int(sum(tree.weight for tree in self.trees))

    @property
    def cycles(self) -> int:
        """The number of cycles in which the source sends packets."""
        return -(-self.packets // self.packets_per_cycle)

    @property
    def height(self) -> int:
        """The height of the highest tree, in links."""
        return max(tree.height for tree in self.trees)

    def schedule(self) -> SeriesSchedule:
        """Return the periodic schedule of packets along the trees, for a series of such packets without end.

        Each message is a packet, and the unit of time is 1 us. In the network of the schedule, the cost of a link is
        the time of a packet, start-up included. In the period no packet is interrupted. In each period a node forwards
        the packets of the period before, so the start takes longer than in `timetable`.

        Raises:
            NoSolutionError: the period has too many digits.
        """
        topology, costs = self.topology, packet_times(self.topology, self.packet_size)
        model = None if topology.port_model == BOUNDED else topology.port_model  # each link has its part
        links = tuple(replace(link, bandwidth=1 / cost) for link, cost in zip(topology.links, costs, strict=True))
        name = f"{topology.name}, packets of {plural(self.packet_size, 'byte')}"
        network = replace(topology, name=name, links=links, bandwidth_unit="packets/us", port_model=model)
        return periodic_schedule(Platform.of(network, topology.nodes[self.source].id), self.trees)


def root_rule(size: int) -> int:
    """Return the number of packets by the rule of §6: the square root of `size`, rounded up."""
    return isqrt(size - 1) + 1


def pipelined_broadcast(
    topology: TopologyLike, source: NodeId, size: int | str, *, packets: int | None = None, progress: Progress = SILENT
) -> PipelinePlan:
    """Return the fastest known plan to broadcast `size` bytes from `source` in packets.

    Args:
        topology: the network. The start-up of a link is its `latency_us`, 0 by default.
        source: the id of a compute node or, if no node has that id, its position among the compute nodes.
        size: L, in bytes or as a text such as `1MB`.
        packets: the number of packets, 1 to `size`. If None, the best number is searched.
        progress: receives the stages.

    Returns:
        The plan, with exact times in microseconds.

    Raises:
        InputError: the source is unknown or a switch, `size` or `packets` is out of range, or the unit of bandwidths is
            unknown.
        NoSolutionError: a compute node cannot be reached.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import pipelined_broadcast
        >>> plan = pipelined_broadcast(load_topology("ring:nodes=3"), 0, 3000, packets=3)
        >>> plan.packets, plan.packet_size, str(plan.makespan)
        (3, 1000, '3')
    """
    topology, size = load_topology(topology), data_size(size)
    return Pipeline(topology, source, progress).plan(size, packets=packets)


def _check(size: int, packets: int | None) -> None:
    if size < 1:
        raise InputError(f"size is {plural(size, 'byte')}; expected 1 or more")
    if packets is not None and not 1 <= packets <= size:
        raise InputError(f"packets is {packets}; expected 1 to {size}, at most one packet per byte")


class Pipeline:
    """Plans for messages of any size from one source. The trees for large messages are computed only once."""

    def __init__(self, topology: Topology, source: NodeId, progress: Progress = SILENT) -> None:
        topology = without_overheads(topology)
        self._topology, self._source, self._progress = topology, source, progress
        self._divided: list[Pipeline] = []
        if topology.port_model == BOUNDED:
            self._divided = [Pipeline(each, source, progress) for each in self._divisions()]
            return
        start_ups = [link.latency_us or Fraction(0) for link in topology.links]
        without = [cost - start_up for cost, start_up in zip(packet_times(topology, 1), start_ups, strict=True)]
        self._bytes = Platform.of(topology, source, without)
        self._start_ups = start_ups
        if not any(start_ups):
            progress.remark(f"{topology.name}: no link has a start-up (latency_us), so more packets are always better")
        best = steady_optimum(self._bytes, progress)
        self._known = forests_of(self._bytes, start_ups, best.trees, best_tree(best, progress).tree)
        self._waves = WaveSearch(self._bytes, start_ups)

    def plan(self, size: int, *, packets: int | None = None) -> PipelinePlan:
        """Return the fastest known plan for `size` bytes, with exactly `packets` packets if the number is given.

        Raises:
            InputError: `size` is less than 1, or `packets` is not between 1 and `size`.
        """
        _check(size, packets)
        if self._divided:
            return self._of_division(size, [each.plan(size, packets=packets) for each in self._divided])
        layered, forests = self._layered(size, packets)
        bounds = pipeline_bound(self._bytes, self._start_ups, size)
        self._progress.begin("choosing trees and packets")
        wave = self._waves.best(size, packets, layered.makespan, forests)
        return self._of_forest(size, layered, bounds) if wave is None else self._of_wave(size, wave, bounds)

    def plan_by_cycles(self, size: int, *, packets: int | None = None) -> PipelinePlan:
        """Return the fastest plan in which a node forwards in each cycle the packets of the cycle before.

        Raises:
            InputError: as for `plan`.
        """
        _check(size, packets)
        if self._divided:
            return self._of_division(size, [each.plan_by_cycles(size, packets=packets) for each in self._divided])
        bounds = pipeline_bound(self._bytes, self._start_ups, size)
        return self._of_forest(size, self._layered(size, packets)[0], bounds)

    def _divisions(self) -> list[Topology]:
        """Return networks with fixed parts of the shared bandwidths: for the optimum, and for the best tree."""
        best = steady_optimum(Platform.of(self._topology, self._source), self._progress)
        single = best_tree(best, self._progress).tree
        return [divided(best.platform, trees, filled=True) for trees in (best.trees, (single,))]

    def _of_division(self, size: int, plans: Sequence[PipelinePlan]) -> PipelinePlan:
        """Return the fastest of plans for fixed parts of the shared bandwidths, as a plan for the whole network."""
        plan = min(plans, key=lambda each: each.makespan)
        network = replace(plan.topology, port_model=BOUNDED)
        timetable = None if plan.timetable is None else replace(plan.timetable, topology=network)
        bounds = shared_bound(self._topology, self._source, size)
        return replace(plan, topology=network, timetable=timetable, bounds=bounds)

    def _layered(self, size: int, packets: int | None) -> tuple[TimedForest, list[WeightedTrees]]:
        """Return the fastest plan by cycles, and all forests that were compared."""
        forests = list(self._known)
        best = min((forest.timed(size, packets) for forest in forests), key=speed)
        for _ in range(_MAX_ITERATIONS):
            others = self._forests_for(best.packet_size)
            forests += others
            again = min((forest.timed(size, packets) for forest in others), key=speed)
            if again.makespan >= best.makespan:
                break
            best = again
        return best, forests

    def _forests_for(self, packet_size: int) -> list[WeightedTrees]:
        """Return forests that are optimal for the times of packets of this size."""
        costs = packet_times(self._topology, packet_size)
        best = steady_optimum(Platform.of(self._topology, self._source, costs), self._progress)
        single = best_tree(best, self._progress, search=False).tree
        return forests_of(self._bytes, self._start_ups, best.trees, single)

    def _of_forest(self, size: int, timed: TimedForest, bounds: PipelineBound) -> PipelinePlan:
        return PipelinePlan(
            topology=self._topology,
            source=self._bytes.source,
            size=size,
            packets=-(-size // timed.packet_size),
            packet_size=timed.packet_size,
            trees=timed.forest.trees,
            cycle=timed.forest.cycle(timed.packet_size),
            makespan=timed.makespan,
            bounds=bounds,
        )

    def _of_wave(self, size: int, found: FoundWave, bounds: PipelineBound) -> PipelinePlan:
        counts: dict[tuple[tuple[int, ...], ...], int] = {}
        for tree in found.wave.trees:
            routes = outwards(tree, self._bytes.source)
            counts[routes] = counts.get(routes, 0) + 1
        return PipelinePlan(
            topology=self._topology,
            source=self._bytes.source,
            size=size,
            packets=found.packets,
            packet_size=found.packet_size,
            trees=tuple(SeriesTree(Fraction(count), routes) for routes, count in counts.items()),
            cycle=found.wave.cycle * found.unit,
            makespan=found.makespan,
            bounds=bounds,
            timetable=self._timetable(found),
        )

    def _timetable(self, found: FoundWave) -> Timetable:
        """Return the sends of all cycles of a wave."""
        sends = [
            PacketSend((send.start + cycle * found.wave.cycle) * found.unit, packet, send.link)
            for send in found.wave.sends
            for cycle, packet in enumerate(range(send.packet, found.packets, found.wave.packets))
        ]
        return Timetable(
            topology=self._topology,
            source=self._bytes.source,
            packets=found.packets,
            times=tuple(packet_times(self._topology, found.packet_size)),
            sends=tuple(sorted(sends, key=lambda send: (send.start, send.packet, send.link))),
        )
