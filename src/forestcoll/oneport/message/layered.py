"""Cycles in which a node forwards the packets that it received in the cycle before (§5.4, §6).

In a cycle, a_l packets take tree l. The busiest port needs the time C(n), the maximum of A_p + n B_p over all ports p,
where A_p and B_p are sums of start-ups and costs. By Lemma 1 a cycle of this length exists. So the packets of R cycles,
along trees of height H, take the time

    (R + H - 1) C(n),   n = L / (R M),   M the sum of all a_l.

This is exact and includes initialisation and clean-up. For each port it is (R + H - 1)(A + L B / (R M)), which is
convex in R with its minimum at sqrt((H - 1) L B / (M A)). This is the square-root rule of §6 with its constants. It is
the reason why the loss compared with L T* is of the order of sqrt(L) (Theorem 8). The best R is found by bisection.

If half-duplex nodes form odd cycles, the ports alone do not limit the links. The links within a set of s nodes, with s
odd, need at most s / (s - 1) of the time of the busiest port, which is at most 3/2 of it.
So C(n) is then 3/2 of the maximum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING

from forestcoll.oneport.platform.odd_sets import pair_times, two_sides
from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.series.value import SeriesTree

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port

_ODD_SLACK = Fraction(3, 2)
"""With odd cycles of half-duplex nodes, a cycle takes at most this times the time of the busiest port."""

MAX_PACKETS_PER_CYCLE = 64
"""The maximum number of packets per cycle. More packets fit the weights of the trees better but start more slowly."""


def forests_of(
    platform: Platform, start_ups: Sequence[Fraction], trees: Sequence[SeriesTree], single: SeriesTree
) -> "list[WeightedTrees]":
    """Return the forests with `trees` in rounded proportions, and the forest of the tree `single`.

    Args:
        platform: the network with its source; its costs are the times of a byte.
        start_ups: the start-up of each link.
        trees: trees with weights.
        single: the other tree.
    """
    forests = [WeightedTrees(platform, start_ups, (SeriesTree(Fraction(1), single.routes),))]
    seen = set()
    for count in range(1, MAX_PACKETS_PER_CYCLE + 1):
        counts = _apportion([tree.weight for tree in trees], count)
        divisor = gcd(*counts)
        counts = tuple(each // divisor for each in counts)
        if counts not in seen:
            seen.add(counts)
            chosen = (SeriesTree(Fraction(each), tree.routes) for each, tree in zip(counts, trees, strict=True) if each)
            forests.append(WeightedTrees(platform, start_ups, tuple(chosen)))
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
class TimedForest:
    """A forest with a packet size, and the total time with packets of this size."""

    forest: "WeightedTrees"
    packet_size: int
    makespan: Fraction


def speed(timed: TimedForest) -> Fraction:
    """Return the total time, to compare forests."""
    return timed.makespan


@dataclass(frozen=True)
class WeightedTrees:
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
                link = self.platform.topology.link_numbers[ends]
                for port, part in self.platform.uses[link]:
                    start_up, byte = needs.get(port, (Fraction(0), Fraction(0)))
                    start_up += tree.weight * part * self.start_ups[link]
                    needs[port] = start_up, byte + tree.weight * part * self.platform.costs[link]
        kept: list[tuple[Fraction, Fraction]] = []
        for need in sorted(set(needs.values()), reverse=True):
            if not kept or need[1] > kept[-1][1]:
                kept.append(need)
        slack = Fraction(1) if two_sides(pair_times(self.platform, self.trees)) is not None else _ODD_SLACK
        return [(slack * start_up, slack * byte) for start_up, byte in kept]

    @cached_property
    def _height(self) -> int:
        return max(tree.height for tree in self.trees)

    @cached_property
    def packets(self) -> int:
        """M, the number of packets of a cycle."""
        return int(sum(tree.weight for tree in self.trees))

    def cycle(self, packet_size: Fraction | int) -> Fraction:
        """Return the length of a cycle with packets of this size."""
        return max(start_up + packet_size * byte for start_up, byte in self._ports)

    def timed(self, size: int, packets: int | None) -> TimedForest:
        """Return the time of `size` bytes in `packets` packets, or in the best number of packets if None."""
        if packets is not None:
            return self._with_packets(size, -(-size // packets))
        cycles = self._best_cycles(size)
        near = {max(1, -(-size // (self.packets * each))) for each in (cycles - 1, cycles, cycles + 1) if each > 0}
        return min((self._with_packets(size, each) for each in sorted(near)), key=speed)

    def _with_packets(self, size: int, packet_size: int) -> TimedForest:
        packets = -(-size // packet_size)
        cycles = -(-packets // self.packets)
        return TimedForest(self, packet_size, (cycles + self._height - 1) * self.cycle(packet_size))

    def _best_cycles(self, size: int) -> int:
        """Return the number of cycles with the least makespan. The makespan is convex in the number of cycles."""
        scale = lcm(*(part.denominator for need in self._ports for part in need))
        needs = [(int(start_up * scale) * self.packets, int(byte * scale) * size) for start_up, byte in self._ports]

        def makespan(cycles: int) -> tuple[int, int]:
            """Return the makespan in another unit, as numerator and denominator that are not reduced."""
            return (cycles + self._height - 1) * max(one * cycles + other for one, other in needs), cycles

        low, high = 1, max(1, -(-size // self.packets))
        while low < high:
            middle = (low + high) // 2
            (here, below), (beyond, under) = makespan(middle), makespan(middle + 1)
            if here * under <= beyond * below:
                high = middle
            else:
                low = middle + 1
        return low
