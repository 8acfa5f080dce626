"""One large message in packets along the trees of a series (§6): how many packets, and how long it all takes.

A packet of n bytes takes beta + n c over a link. With a_l packets on tree l, all in a cycle, the busiest port is needed
for C(n), the greatest of A_p + n B_p over ports p, where A and B add up start-ups and costs; by Lemma 1 the cycle can
be as short as that. Each node passes on in a cycle what came in the one before, so R cycles' worth of packets through
trees of height H takes

    (R + H - 1) C(n),   n = L / (R M),   M the sum of all a_l:

exactly, initialisation and clean-up included. For each port this is (R + H - 1)(A + L B / (R M)), which is convex in
R and least at sqrt((H - 1) L B / (M A)): the square-root rule of §6 with its constants, and the reason why what is lost
against L T* is of the order of sqrt(L) (Theorem 8). The best R is found by bisection, for each choice of trees and of
packets in a cycle: the trees of the optimum in rounded proportions, or a single tree. Then trees are chosen anew for
the time that a packet of that size takes, start-up included, and so on while that is faster.
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
from forestcoll.topology import NodeId, Topology
from forestcoll.units import bytes_per_microsecond

if TYPE_CHECKING:
    from forestcoll.proof.prices import Port


MOST_IN_A_CYCLE = 64
"""The most packets of a cycle that are tried: more come nearer to the trees' proportions, but fill longer."""

_MOST_TURNS = 3
"""How often trees are chosen anew for the size of packets that was best."""


@dataclass(frozen=True)
class PipelinePlan:
    """How a message is sent.

    Attributes:
        topology: the network.
        source: the number of the compute node that has the message.
        size: L, in bytes.
        packets: how many packets it is cut into; the last cycle may have fewer than the others.
        packet_size: how many bytes each has; the last may have fewer.
        trees: the trees; weights are packets in a cycle, whole.
        cycle: how long a cycle takes, in microseconds.
        makespan: how long it all takes, in microseconds, from the first send to the end of the last cycle.
        bound: no schedule is faster: L T*, without any start-up, in microseconds.
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
        """How many cycles packets set out in."""
        return -(-self.packets // self.packets_per_cycle)

    @property
    def height(self) -> int:
        """Of the highest tree, in links."""
        return max(tree.height for tree in self.trees)

    def schedule(self) -> SeriesSchedule:
        """Return the periodic schedule that sends the packets: a message of it is a packet, its unit of time 1 us.

        Its network has the time that a packet takes over a link for the link's cost, start-up included. Its period is
        the cycle, or a multiple of it: the least in which no packet is interrupted.

        Raises:
            NoSolutionError: the period has thousands of digits.
        """
        topology, costs = self.topology, packet_costs(self.topology, self.packet_size)
        links = tuple(replace(link, bandwidth=1 / cost) for link, cost in zip(topology.links, costs, strict=True))
        name = f"{topology.name}, packets of {self.packet_size} bytes"
        network = replace(topology, name=name, links=links, bandwidth_unit="packets/us")
        return periodic_schedule(Platform.of(network, topology.nodes[self.source].id), self.trees)


def packet_costs(topology: Topology, packet_size: int | Fraction) -> list[Fraction]:
    """Return of each link how long a packet of so many bytes takes, in microseconds: beta + n c.

    Raises:
        InputError: the size of the unit of bandwidths is not known.
    """
    unit = bytes_per_microsecond(topology.bandwidth_unit)
    return [(link.latency_us or Fraction(0)) + packet_size / (link.bandwidth * unit) for link in topology.links]


def root_rule(size: int) -> int:
    """Return how many packets §6 cuts `size` bytes into: as many as each has bytes, rounded up."""
    return isqrt(size - 1) + 1


def pipelined_broadcast(
    topology: Topology, source: NodeId, size: int, *, packets: int | None = None, progress: Progress = SILENT
) -> PipelinePlan:
    """Return the fastest plan that is found to broadcast `size` bytes from `source` in packets.

    Args:
        topology: the network; `latency_us` of a link is its start-up, 0 where there is none.
        source: the id of a compute node.
        size: L, 1 or more.
        packets: how many packets to cut it into, 1 to `size`; the best number that is found if left out.
        progress: is told of stages.

    Raises:
        InputError: the source is unknown or a switch, `size` or `packets` is not right, or the unit of bandwidths is
            unknown.
        NoSolutionError: a compute node cannot be reached.
    """
    return Pipeline(topology, source, progress).plan(size, packets=packets)


class Pipeline:
    """Plans for messages of any size from one source; the trees for large ones are found once."""

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
        """Return the fastest plan that is found for `size` bytes, in so many `packets` if that is given.

        Raises:
            InputError: `size` is less than 1, or `packets` not from 1 to `size`.
        """
        if size < 1:
            raise InputError(f"the size is {size} bytes; it must be 1 or more")
        if packets is not None and not 1 <= packets <= size:
            raise InputError(f"{packets} packets; there must be 1 to {size}, as many as there are bytes")
        best = min((forest.timed(size, packets) for forest in self._known), key=_speed)
        for _ in range(_MOST_TURNS):
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
        """Return forests made for the time that packets of this size take."""
        costs = packet_costs(self._topology, packet_size)
        best = steady_optimum(Platform.of(self._topology, self._source, costs), self._progress)
        return self._forests(best.trees, best_tree(best, self._progress, search=False).tree)

    def _forests(self, trees: Sequence[SeriesTree], single: SeriesTree) -> "list[_Forest]":
        forests = [_Forest(self._bytes, self._start_ups, (SeriesTree(Fraction(1), single.routes),))]
        seen = set()
        for count in range(1, MOST_IN_A_CYCLE + 1):
            counts = _apportioned([tree.weight for tree in trees], count)
            divisor = gcd(*counts)
            counts = tuple(each // divisor for each in counts)
            if counts not in seen:
                seen.add(counts)
                chosen = tuple(
                    SeriesTree(Fraction(each), tree.routes) for each, tree in zip(counts, trees, strict=True) if each
                )
                forests.append(_Forest(self._bytes, self._start_ups, chosen))
        return forests


def _apportioned(weights: Sequence[Fraction], count: int) -> tuple[int, ...]:
    """Return whole numbers that add up to `count` in about the proportions of `weights` (largest remainders)."""
    total = sum(weights, Fraction(0))
    quotas = [weight * count / total for weight in weights]
    whole = [int(quota) for quota in quotas]
    by_rest = sorted(range(len(quotas)), key=lambda place: (whole[place] - quotas[place], place))
    for place in by_rest[: count - sum(whole)]:
        whole[place] += 1
    return tuple(whole)


@dataclass(frozen=True)
class _Timed:
    """A forest with packets of a size, and how long it takes with them."""

    forest: "_Forest"
    packet_size: int
    makespan: Fraction


def _speed(timed: _Timed) -> Fraction:
    return timed.makespan


@dataclass(frozen=True)
class _Forest:
    """Trees whose weights are packets in a cycle, and what they need ports for."""

    platform: Platform
    start_ups: Sequence[Fraction]
    trees: tuple[SeriesTree, ...]

    @cached_property
    def _ports(self) -> list[tuple[Fraction, Fraction]]:
        """Of ports the start-ups and the time for a byte of each packet in a cycle, added up (A and B).

        A port that needs no more of either than another is left out.
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
        """Return how long a cycle takes with packets of this size."""
        return max(start_up + packet_size * byte for start_up, byte in self._ports)

    def timed(self, size: int, packets: int | None) -> _Timed:
        """Return how long `size` bytes take in so many packets, or in the best number of them."""
        if packets is not None:
            return self._with_packets(size, -(-size // packets))
        cycles = self._best_cycles(size)
        near = {max(1, -(-size // (self._packets * each))) for each in (cycles - 1, cycles, cycles + 1) if each > 0}
        return min((self._with_packets(size, each) for each in sorted(near)), key=_speed)

    def _with_packets(self, size: int, packet_size: int) -> _Timed:
        packets = -(-size // packet_size)
        cycles = -(-packets // self._packets)
        return _Timed(self, packet_size, (cycles + self._height - 1) * self.cycle(packet_size))

    def _best_cycles(self, size: int) -> int:
        """Return the number of cycles at which the makespan, of packets of any size, is least: it is convex in it."""
        scale = lcm(*(part.denominator for need in self._ports for part in need))
        needs = [(int(start_up * scale) * self._packets, int(byte * scale) * size) for start_up, byte in self._ports]

        def makespan(cycles: int) -> tuple[int, int]:
            """Return it as a fraction that is not reduced, in another unit."""
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
