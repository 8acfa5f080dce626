"""When hops begin and end if they share links: a run of all hops, from which a timetable is made.

A hop waits for the hops that bring its data, and for a lane of its pair of ranks. When a lane is free, the pair begins
the first of its waiting hops, in a given order. A hop first takes `OVERHEAD`, in which it moves no data; then it shares
its links with all other hops that move data, and its data arrives `LATENCY` after its end. On a link that several pairs
share, only one hop moves data at a time: with more, all would take longer, and the data behind them would wait.

A hop gets the bandwidth that is left for it if each hop on its slowest link gets the same part. A run takes time in
proportion to the number of hops, times the pairs that share a link.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from forestcoll.lowering.pair_links import Pair

OVERHEAD = 1 / 3000
"""The time before a hop moves data; the busiest link moves its data in a time of 1."""

LATENCY = 1 / 600
"""The time between the end of a hop and the arrival of its last data. 1 GB takes about 3 ms on a box of 2022."""

_NEAR = 1e-9
"""Events within this time are at the same time, and hops of which less than this part is left are done."""

Order = Sequence[tuple[float, ...]]
"""For each hop, its place among the hops that wait with it: the least first."""


@dataclass(frozen=True)
class Hops:
    """Hops between ranks, and what they wait for.

    Attributes:
        pairs: for each hop, the rank that sends and the rank that receives.
        sizes: for each hop, its amount of data.
        after: for each hop, the hops that wait for it.
    """

    pairs: Sequence[Pair]
    sizes: Sequence[int]
    after: Sequence[Sequence[int]]

    def backwards(self) -> "Hops":
        """Return the same hops if time ran backwards."""
        before: list[list[int]] = [[] for _ in self.after]
        for hop, listed in enumerate(self.after):
            for each in listed:
                before[each].append(hop)
        return replace(self, after=before)

    @property
    def waits(self) -> list[int]:
        """For each hop, the number of hops that it waits for."""
        counts = [0] * len(self.after)
        for listed in self.after:
            for each in listed:
                counts[each] += 1
        return counts


class Times(NamedTuple):
    """The begins and the ends of hops, and the lane of each."""

    begins: Sequence[float]
    ends: Sequence[float]
    lanes: Sequence[int]

    @property
    def length(self) -> float:
        """The end of the last hop."""
        return max(self.ends)

    def backwards(self) -> "Times":
        """Return the times if time ran backwards."""
        length = self.length
        return Times([length - each for each in self.ends], [length - each for each in self.begins], self.lanes)


def run_hops(hops: Hops, times: Mapping[Pair, Mapping[int, float]], lanes: int, order: Order) -> Times:
    """Return when hops begin and end.

    Args:
        hops: the hops.
        times: for each pair of ranks, the links, and the time of a chunk on each; the busiest link is busy for 1.
        lanes: the most hops of a pair at the same time.
        order: the order in which hops that wait begin.
    """
    return _Run(hops, times, lanes, order).run()


@dataclass
class _Line:
    """A pair of ranks: the hops that wait, and those that move data.

    Attributes:
        links: the links that data crosses, and the time of a chunk on each.
        near: the numbers of all pairs that share a link with this one, and its own.
        waiting: the hops that wait for a lane, in their order.
        moving: the hops that move data, by the value of `moved` at which they end.
        lanes: the free lanes, each after the number of hops that it had.
        moved: the data that each hop would have moved if it had always been moving; it grows with `rate` since `since`.
        version: the number of changes of `rate`.
    """

    links: Sequence[tuple[int, float]]
    near: Sequence[int]
    lanes: list[tuple[int, int]]
    waiting: list[tuple[tuple[float, ...], int]] = field(default_factory=list)
    moving: list[tuple[float, int]] = field(default_factory=list)
    moved: float = 0.0
    rate: float = 0.0
    since: float = 0.0
    version: int = 0

    def advance(self, now: float) -> None:
        self.moved += self.rate * (now - self.since)
        self.since = now


_MOVE, _END, _ARRIVE = range(3)
"""What happens: a hop begins to move data, the first hop of a pair may end, the data of a hop arrives."""


class _Run:
    def __init__(self, hops: Hops, times: Mapping[Pair, Mapping[int, float]], lanes: int, order: Order) -> None:
        pairs = sorted(set(hops.pairs))
        numbers = {pair: number for number, pair in enumerate(pairs)}
        users: dict[int, list[int]] = defaultdict(list)
        for number, pair in enumerate(pairs):
            for link in times[pair]:
                users[link].append(number)
        self._lines = [
            _Line(
                links=tuple(times[pair].items()),
                near=sorted({each for link in times[pair] for each in users[link]}),
                lanes=[(0, lane) for lane in range(lanes)],
            )
            for pair in pairs
        ]
        self._line_of = [numbers[pair] for pair in hops.pairs]
        self._places = {link: lanes if len(listed) == 1 else 1 for link, listed in users.items()}
        self._loads = dict.fromkeys(users, 0.0)
        self._hops, self._order, self._waits = hops, order, hops.waits
        self._begins, self._ends = ([0.0] * len(hops.pairs) for _ in range(2))
        self._lanes = [(0, 0)] * len(hops.pairs)
        self._events: list[tuple[float, int, int, int]] = []
        self._free: set[int] = set()
        self._changed: set[int] = set()
        self._now = 0.0

    def run(self) -> Times:
        for hop, count in enumerate(self._waits):
            if not count:
                self._wait(hop)
        self._begin_hops()
        while self._events:
            self._now = self._events[0][0]
            while self._events and self._events[0][0] <= self._now + _NEAR:
                _, kind, number, version = heappop(self._events)
                if kind == _MOVE:
                    self._move(number)
                elif kind == _ARRIVE:
                    self._arrive(number)
                elif version == self._lines[number].version:
                    self._end_hops(number)
            self._begin_hops()
            self._share()
        return Times(self._begins, self._ends, [lane for _, lane in self._lanes])

    def _wait(self, hop: int) -> None:
        number = self._line_of[hop]
        heappush(self._lines[number].waiting, (self._order[hop], hop))
        self._free.add(number)

    def _begin_hops(self) -> None:
        """Begin hops of all pairs that may have a free lane: first the first one in the order."""
        lines, places = self._lines, self._places
        first = [(lines[each].waiting[0], each) for each in self._free if lines[each].waiting]
        self._free.clear()
        heapify(first)
        while first:
            (_, hop), number = heappop(first)
            line = lines[number]
            if not line.lanes or not all(places[link] for link, _ in line.links):
                continue
            heappop(line.waiting)
            self._lanes[hop] = heappop(line.lanes)
            for link, _ in line.links:
                places[link] -= 1
            self._begins[hop] = self._now
            heappush(self._events, (self._now + OVERHEAD, _MOVE, hop, 0))
            if line.waiting:
                heappush(first, (line.waiting[0], number))

    def _move(self, hop: int) -> None:
        number = self._line_of[hop]
        line = self._lines[number]
        line.advance(self._now)
        heappush(line.moving, (line.moved + self._hops.sizes[hop], hop))
        for link, time in line.links:
            self._loads[link] += time
        self._changed.add(number)

    def _end_hops(self, number: int) -> None:
        """End the hops of a pair that have moved all their data."""
        line = self._lines[number]
        line.advance(self._now)
        while line.moving and line.moving[0][0] <= line.moved + _NEAR * max(1.0, line.moved):
            _, hop = heappop(line.moving)
            self._ends[hop] = self._now
            used, lane = self._lanes[hop]
            heappush(line.lanes, (used + 1, lane))
            for link, time in line.links:
                self._loads[link] -= time
                self._places[link] += 1
            heappush(self._events, (self._now + LATENCY, _ARRIVE, hop, 0))
        self._free.update(line.near)
        self._changed.add(number)

    def _arrive(self, hop: int) -> None:
        for each in self._hops.after[hop]:
            self._waits[each] -= 1
            if not self._waits[each]:
                self._wait(each)

    def _share(self) -> None:
        """Set the rates of all pairs whose links have more or fewer hops than before."""
        near = {each for number in self._changed for each in self._lines[number].near}
        self._changed.clear()
        for number in sorted(near):
            line = self._lines[number]
            line.advance(self._now)
            line.version += 1
            line.rate = 0.0
            if line.moving:
                line.rate = 1 / max(self._loads[link] for link, _ in line.links)
                left = max(0.0, line.moving[0][0] - line.moved)
                heappush(self._events, (self._now + left / line.rate, _END, number, line.version))
