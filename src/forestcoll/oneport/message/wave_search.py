"""The fastest wave for one message: the number of packets, the trees, and the length of the cycle.

A pattern is a method to make the wave of a cycle: along the trees of a known forest, along the fastest tree for a
single packet (`atomic`), or along trees that grow where packets arrive first. Trees that grow within a short cycle use
all ports, and a longer cycle allows trees with more branches, which are lower. If there are few packets, all of them
are one cycle. Every pattern is tried for numbers of packets that double, as long as the bound for that number is not
above the best time. Then the best pattern is tried for nearby numbers of packets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from forestcoll.oneport.message.atomic import atomic_plan
from forestcoll.oneport.message.layered import WeightedTrees
from forestcoll.oneport.message.pipeline_bound import packet_times, packets_bound
from forestcoll.oneport.message.waves import Route, Wave, WaveBuilder
from forestcoll.oneport.platform.logical import logical_arcs
from forestcoll.oneport.platform.platform import Platform

MAX_SENDS = 20_000
"""The maximum number of sends of a wave with all its cycles."""

_MAX_SENDS_OF_A_CYCLE = 600
_MAX_PACKETS_AT_ONCE = 12
_MAX_FOREST = 8
_SLACKS = (Fraction(0), Fraction(1, 4), Fraction(1))
_SLACKS_OF_TREES = (Fraction(0), Fraction(1, 8))


@dataclass(frozen=True)
class FoundWave:
    """A wave with its number and size of packets, and its total time in microseconds."""

    wave: Wave
    unit: Fraction
    packets: int
    packet_size: int

    @property
    def makespan(self) -> Fraction:
        """The time of the last arrival."""
        return self.wave.makespan(self.packets) * self.unit


@dataclass(frozen=True)
class _Pattern:
    """How to make a wave: `trees` has one tree per packet, or is None if trees grow.

    `slack` is the part by which the cycle is longer than the busiest port needs; None if there is only one cycle.
    """

    packets: int
    slack: Fraction | None
    apart: bool = False
    trees: tuple[tuple[Route, ...], ...] | None = None


_GROWN = (
    *(_Pattern(1, slack) for slack in _SLACKS),
    *(_Pattern(packets, Fraction(1, 4)) for packets in (2, 4)),
    *(_Pattern(packets, slack, apart=True) for packets in (2, 3, 4) for slack in _SLACKS),
)


class WaveSearch:
    """Searches for waves on one platform.

    Args:
        platform: the network with its source; its costs are the times of a byte.
        start_ups: the start-up of each link, in microseconds.
    """

    def __init__(self, platform: Platform, start_ups: Sequence[Fraction]) -> None:
        self._platform, self._start_ups = platform, start_ups
        self._scale = lcm(*(each.denominator for each in (*start_ups, *platform.costs)))
        self._fixed = [int(each * self._scale) for each in start_ups]
        self._byte = [int(each * self._scale) for each in platform.costs]
        self._edges = len(platform.destinations)
        self.unit = Fraction(1, self._scale)

    def best(
        self, size: int, packets: int | None, known: Fraction, forests: Sequence[WeightedTrees]
    ) -> FoundWave | None:
        """Return the fastest wave found that does not take longer than `known`, or None.

        Args:
            size: L, in bytes.
            packets: the number of packets, or None if it is free.
            known: the time of a known plan, in microseconds.
            forests: forests whose trees are tried.
        """
        case = _Case(self, size, known, forests)
        patterns = list(self._patterns(forests))
        for bound, count in sorted(self._counts(size, packets)):
            if bound > case.least:
                break
            for pattern in (*patterns, self._low(size, count), *self._at_once(count)):
                case.attempt(count, pattern)
        if packets is None:
            case.refine(self.most_packets(size))
        return case.found

    def most_packets(self, size: int) -> int:
        """Return the maximum number of packets of a wave."""
        return min(size, MAX_SENDS // self._edges)

    def _counts(self, size: int, packets: int | None) -> Iterator[tuple[Fraction, int]]:
        """Yield numbers of packets, each after a lower bound on the time."""
        most = self.most_packets(size)
        doubling = [1 << power for power in range(most.bit_length())]
        for count in [*doubling, 3, 6] if packets is None else [packets]:
            if count <= most:
                yield packets_bound(self._platform, self._start_ups, size, count), count

    def _patterns(self, forests: Sequence[WeightedTrees]) -> Iterator[_Pattern]:
        seen = set()
        for forest in forests:
            if forest.packets <= _MAX_FOREST and forest.packets * self._edges <= _MAX_SENDS_OF_A_CYCLE:
                trees = tuple(tree.routes for tree in forest.trees for _ in range(int(tree.weight)))
                if trees not in seen:
                    seen.add(trees)
                    yield from (_Pattern(len(trees), slack, trees=trees) for slack in _SLACKS_OF_TREES)
        yield from (each for each in _GROWN if each.packets * self._edges <= _MAX_SENDS_OF_A_CYCLE)

    def _low(self, size: int, count: int) -> _Pattern:
        """Return the pattern of the fastest tree for a single packet of this size."""
        times = packet_times(self._platform.topology, -(-size // count))
        plan = atomic_plan(replace(self._platform, costs=tuple(times)), size, exact=count == 1)
        return _Pattern(1, Fraction(0), trees=(plan.routes,))

    def _at_once(self, count: int) -> list[_Pattern]:
        if count > _MAX_PACKETS_AT_ONCE or count * self._edges > _MAX_SENDS_OF_A_CYCLE:
            return []
        return [_Pattern(count, None), _Pattern(count, None, apart=True)]

    def wave(self, pattern: _Pattern, packet_size: int, forests: Sequence[WeightedTrees]) -> Wave | None:
        """Return the wave of a pattern for packets of this size, or None if its sends do not fit."""
        times = [fixed + packet_size * byte for fixed, byte in zip(self._fixed, self._byte, strict=True)]
        builder = WaveBuilder(self._platform, times)
        if pattern.trees is not None:
            return builder.along(pattern.trees, self._stretched(self._busiest(pattern.trees, times), pattern.slack))
        routes: dict[int, list[Route]] = {}
        for route in logical_arcs(self._platform, times).routes:
            routes.setdefault(route[0], []).append(route)
        per_packet = min(forest.cycle(packet_size) / forest.packets for forest in forests)
        least = -int(-per_packet * self._scale * pattern.packets // 1)
        cycle = self._stretched(least, pattern.slack)
        return builder.grown(routes, pattern.packets, cycle, apart=pattern.apart)

    def _stretched(self, least: int, slack: Fraction | None) -> int | None:
        return None if slack is None else int(least * (1 + slack))

    def _busiest(self, trees: Sequence[Sequence[Route]], times: Sequence[int]) -> int:
        """Return the time of the busiest port for one packet along each tree."""
        loads: dict[object, int] = {}
        for tree in trees:
            for route in tree:
                for link in self._platform.links_of(route):
                    for port in self._platform.ports[link]:
                        loads[port] = loads.get(port, 0) + times[link]
        return max(loads.values())


class _Case:
    """One message: the fastest wave so far, and its pattern."""

    def __init__(self, search: WaveSearch, size: int, known: Fraction, forests: Sequence[WeightedTrees]) -> None:
        self._search, self._size, self._forests = search, size, forests
        self.least = known
        self.found: FoundWave | None = None
        self._pattern: _Pattern | None = None

    def attempt(self, count: int, pattern: _Pattern) -> bool:
        """Keep the wave of `pattern` with `count` packets if it is faster. Return whether it is."""
        if pattern.packets > count:
            return False
        packet_size = -(-self._size // count)
        wave = self._search.wave(pattern, packet_size, self._forests)
        if wave is None:
            return False
        candidate = FoundWave(wave, self._search.unit, -(-self._size // packet_size), packet_size)
        time = candidate.makespan
        if time > self.least or (self.found is not None and time == self.least):
            return False
        self.least, self.found, self._pattern = time, candidate, pattern
        return True

    def refine(self, most: int) -> None:
        """Try numbers of packets near the best one, with smaller and smaller steps."""
        step = 0 if self.found is None else max(1, self.found.packets // 3)
        while step and self.found is not None and self._pattern is not None:
            packets, pattern = self.found.packets, self._pattern
            near = [count for count in (packets - step, packets + step) if 1 <= count <= most]
            if pattern.slack is None:
                better = [self.attempt(count, replace(pattern, packets=count)) for count in near]
            else:
                better = [self.attempt(count, pattern) for count in near]
            if not any(better):
                step //= 2
