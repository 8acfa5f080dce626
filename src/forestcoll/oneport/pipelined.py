"""One large message in packets along the trees of a series (§6): the number of packets and the total time.

A packet of n bytes takes beta + n c over a link. In a cycle, a_l packets take tree l. The busiest port needs the time
C(n), the maximum of A_p + n B_p over all ports p, where A_p and B_p are sums of start-ups and costs. By Lemma 1 a cycle
of this length exists. In each cycle a node forwards the packets that it received in the previous cycle. So the packets
of R cycles, along trees of height H, take the time

    (R + H - 1) C(n),   n = L / (R M),   M the sum of all a_l.

This is exact and includes initialisation and clean-up. For each port it is (R + H - 1)(A + L B / (R M)), which is
convex in R with its minimum at sqrt((H - 1) L B / (M A)). This is the square-root rule of §6 with its constants. It is
the reason why the loss compared with L T* is of the order of sqrt(L) (Theorem 8).

The best R is found by bisection for each choice of trees and of packets per cycle: the trees of the optimum in rounded
proportions, or a single tree. Then new trees are chosen for the time of a packet of that size, start-up included. This
is repeated while the plan becomes faster.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, isqrt, lcm
from typing import TYPE_CHECKING

from forestcoll.errors import InputError
from forestcoll.oneport.best_tree import best_tree
from forestcoll.oneport.optimum import steady_optimum
from forestcoll.oneport.platform import Platform
from forestcoll.oneport.series import periodic_schedule
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.units import bytes_per_microsecond

if TYPE_CHECKING:
    from forestcoll.proof.prices import Port


MAX_PACKETS_PER_CYCLE = 64
"""The maximum number of packets per cycle. More packets fit the weights of the trees better but start more slowly."""

_MAX_ITERATIONS = 3
"""The maximum number of times that trees are chosen again for the best packet size."""


@dataclass(frozen=True)
class PipelinePlan:
    """A plan for sending one message in packets.

    Attributes:
        topology: the network.
        source: the number of the compute node that has the message.
        size: L, in bytes.
        packets: the number of packets. The last cycle may have fewer packets than the others.
        packet_size: the size of each packet in bytes. The last packet may be smaller.
        trees: the trees, with the number of packets per cycle as weights.
        cycle: the length of a cycle, in microseconds.
        makespan: the time from the first send to the end of the last cycle, in microseconds.
        bound: a lower bound for all schedules, in microseconds: L T*, without start-ups.

    Example:
        >>> from forestcoll import load_topology, pipelined_broadcast, verify
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
    bound: Fraction

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
        """Return the periodic schedule of the packets. Each message is a packet, and the unit of time is 1 us.

        In the network of the schedule, the cost of a link is the time of a packet, start-up included. The period is the
        least multiple of the cycle in which no packet is interrupted.

        Raises:
            NoSolutionError: the period has too many digits.
        """
        topology, costs = self.topology, packet_costs(self.topology, self.packet_size)
        links = tuple(replace(link, bandwidth=1 / cost) for link, cost in zip(topology.links, costs, strict=True))
        name = f"{topology.name}, packets of {self.packet_size} bytes"
        network = replace(topology, name=name, links=links, bandwidth_unit="packets/us")
        return periodic_schedule(Platform.of(network, topology.nodes[self.source].id), self.trees)


def packet_costs(topology: Topology, packet_size: int | Fraction) -> list[Fraction]:
    """Return the time of a packet of `packet_size` bytes over each link, in microseconds: beta + n c.

    Raises:
        InputError: the unit of bandwidths is unknown.
    """
    unit = bytes_per_microsecond(topology.bandwidth_unit)
    return [(link.latency_us or Fraction(0)) + packet_size / (link.bandwidth * unit) for link in topology.links]


def root_rule(size: int) -> int:
    """Return the number of packets by the rule of §6: the square root of `size`, rounded up."""
    return isqrt(size - 1) + 1


def pipelined_broadcast(
    topology: TopologyLike, source: NodeId, size: int, *, packets: int | None = None, progress: Progress = SILENT
) -> PipelinePlan:
    """Return the fastest known plan to broadcast `size` bytes from `source` in packets.

    Args:
        topology: the network. The start-up of a link is its `latency_us`, 0 by default.
        source: the id of a compute node or, if no node has that id, its position among the compute nodes.
        size: L, in bytes, 1 or more.
        packets: the number of packets, 1 to `size`. If None, the best number is searched.
        progress: receives the stages.

    Returns:
        The plan, with exact times in microseconds.

    Raises:
        InputError: the source is unknown or a switch, `size` or `packets` is out of range, or the unit of bandwidths is
            unknown.
        NoSolutionError: a compute node cannot be reached.

    Example:
        >>> from forestcoll import load_topology, pipelined_broadcast
        >>> plan = pipelined_broadcast(load_topology("ring:nodes=3"), 0, 3000, packets=3)
        >>> plan.packets, plan.packet_size, str(plan.makespan)
        (3, 1000, '3')
    """
    topology = load_topology(topology)
    return Pipeline(topology, source, progress).plan(size, packets=packets)


class Pipeline:
    """Plans for messages of any size from one source. The trees for large messages are computed only once."""

    def __init__(self, topology: Topology, source: NodeId, progress: Progress = SILENT) -> None:
        self._topology, self._source, self._progress = topology, source, progress
        start_ups = [link.latency_us or Fraction(0) for link in topology.links]
        without = [cost - start_up for cost, start_up in zip(packet_costs(topology, 1), start_ups, strict=True)]
        self._bytes = Platform.of(topology, source, without)
        self._start_ups = start_ups
        if not any(start_ups):
            progress.remark(f"{topology.name}: no link has a start-up (latency_us), so more packets are always better")
        best = steady_optimum(self._bytes, progress)
        self._time_of_a_byte = 1 / best.throughput
        self._known = self._forests(best.trees, best_tree(best, progress).tree)

    def plan(self, size: int, *, packets: int | None = None) -> PipelinePlan:
        """Return the fastest known plan for `size` bytes, with exactly `packets` packets if the number is given.

        Raises:
            InputError: `size` is less than 1, or `packets` is not between 1 and `size`.
        """
        if size < 1:
            raise InputError(f"size is {size} bytes; expected 1 or more")
        if packets is not None and not 1 <= packets <= size:
            raise InputError(f"packets is {packets}; expected 1 to {size}, at most one packet per byte")
        best = min((forest.timed(size, packets) for forest in self._known), key=_speed)
        for _ in range(_MAX_ITERATIONS):
            again = min((forest.timed(size, packets) for forest in self._forests_for(best.packet_size)), key=_speed)
            if again.makespan >= best.makespan:
                break
            best = again
        return PipelinePlan(
            topology=self._topology,
            source=self._bytes.source,
            size=size,
            packets=-(-size // best.packet_size),
            packet_size=best.packet_size,
            trees=best.forest.trees,
            cycle=best.forest.cycle(best.packet_size),
            makespan=best.makespan,
            bound=size * self._time_of_a_byte,
        )

    def _forests_for(self, packet_size: int) -> "list[_Forest]":
        """Return forests that are optimal for the times of packets of this size."""
        costs = packet_costs(self._topology, packet_size)
        best = steady_optimum(Platform.of(self._topology, self._source, costs), self._progress)
        return self._forests(best.trees, best_tree(best, self._progress, search=False).tree)

    def _forests(self, trees: Sequence[SeriesTree], single: SeriesTree) -> "list[_Forest]":
        forests = [_Forest(self._bytes, self._start_ups, (SeriesTree(Fraction(1), single.routes),))]
        seen = set()
        for count in range(1, MAX_PACKETS_PER_CYCLE + 1):
            counts = _apportion([tree.weight for tree in trees], count)
            divisor = gcd(*counts)
            counts = tuple(each // divisor for each in counts)
            if counts not in seen:
                seen.add(counts)
                chosen = tuple(
                    SeriesTree(Fraction(each), tree.routes) for each, tree in zip(counts, trees, strict=True) if each
                )
                forests.append(_Forest(self._bytes, self._start_ups, chosen))
        return forests


def _apportion(weights: Sequence[Fraction], count: int) -> tuple[int, ...]:
    """Return integers that add up to `count` and are nearly proportional to `weights` (largest remainders)."""
    total = sum(weights, Fraction(0))
    quotas = [weight * count / total for weight in weights]
    whole = [int(quota) for quota in quotas]
    by_rest = sorted(range(len(quotas)), key=lambda place: (whole[place] - quotas[place], place))
    for place in by_rest[: count - sum(whole)]:
        whole[place] += 1
    return tuple(whole)


@dataclass(frozen=True)
class _TimedForest:
    """A forest with a packet size, and the total time with packets of this size."""

    forest: "_Forest"
    packet_size: int
    makespan: Fraction


def _speed(timed: _TimedForest) -> Fraction:
    return timed.makespan


@dataclass(frozen=True)
class _Forest:
    """Trees with packets per cycle as weights, and the time that they need at each port."""

    platform: Platform
    start_ups: Sequence[Fraction]
    trees: tuple[SeriesTree, ...]

    @cached_property
    def _ports(self) -> list[tuple[Fraction, Fraction]]:
        """For each port, the sums over all packets of a cycle of the start-ups and of the times per byte (A and B).

        A port is left out if another port has sums that are at least as large.
        """
        needs: dict[Port, tuple[Fraction, Fraction]] = {}
        for tree in self.trees:
            for ends in tree.edges:
                link = self.platform.numbers[ends]
                for port in self.platform.ports[link]:
                    start_up, byte = needs.get(port, (Fraction(0), Fraction(0)))
                    start_up += tree.weight * self.start_ups[link]
                    needs[port] = start_up, byte + tree.weight * self.platform.costs[link]
        kept: list[tuple[Fraction, Fraction]] = []
        for need in sorted(set(needs.values()), reverse=True):
            if not kept or need[1] > kept[-1][1]:
                kept.append(need)
        return kept

    @cached_property
    def _height(self) -> int:
        return max(tree.height for tree in self.trees)

    @cached_property
    def _packets(self) -> int:
        return int(sum(tree.weight for tree in self.trees))

    def cycle(self, packet_size: Fraction | int) -> Fraction:
        """Return the length of a cycle with packets of this size."""
        return max(start_up + packet_size * byte for start_up, byte in self._ports)

    def timed(self, size: int, packets: int | None) -> _TimedForest:
        """Return the time of `size` bytes in `packets` packets, or in the best number of packets if None."""
        if packets is not None:
            return self._with_packets(size, -(-size // packets))
        cycles = self._best_cycles(size)
        near = {max(1, -(-size // (self._packets * each))) for each in (cycles - 1, cycles, cycles + 1) if each > 0}
        return min((self._with_packets(size, each) for each in sorted(near)), key=_speed)

    def _with_packets(self, size: int, packet_size: int) -> _TimedForest:
        packets = -(-size // packet_size)
        cycles = -(-packets // self._packets)
        return _TimedForest(self, packet_size, (cycles + self._height - 1) * self.cycle(packet_size))

    def _best_cycles(self, size: int) -> int:
        """Return the number of cycles with the least makespan. The makespan is convex in the number of cycles."""
        scale = lcm(*(part.denominator for need in self._ports for part in need))
        needs = [(int(start_up * scale) * self._packets, int(byte * scale) * size) for start_up, byte in self._ports]

        def makespan(cycles: int) -> tuple[int, int]:
            """Return the makespan in another unit, as numerator and denominator that are not reduced."""
            return (cycles + self._height - 1) * max(one * cycles + other for one, other in needs), cycles

        low, high = 1, max(1, -(-size // self._packets))
        while low < high:
            middle = (low + high) // 2
            (here, below), (beyond, under) = makespan(middle), makespan(middle + 1)
            if here * under <= beyond * below:
                high = middle
            else:
                low = middle + 1
        return low
