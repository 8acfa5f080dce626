"""A timetable of the hops of all trees, in which links rarely wait for data: list scheduling.

In a fast program, the busiest links are busy all the time. So hops begin as soon as their data is there and a lane of
their pair of ranks is free. Of the hops that wait for a lane, one with early data in its tree and a long path to the
end of all data begins first: if trees moved at different speeds, links would have nothing to do at the end. With few
chunks, it may be better that the longest path alone decides, so several orders are tried. A timetable is then improved:
in turn, time runs backwards and forwards, and hops that ended later in the other direction begin first. This is done
twice for each order, and as long as it helps for the best one. Both phases of an allreduce are in one timetable: a root
begins with data when the first phase is done with it. One more first order is that of a timetable of each phase alone,
the second one after most of the first one. Then the second phase begins while links have nothing more to reduce, and
the first one does not slow down at its beginning, nor the second one at its end.

A program keeps the order of a timetable, but not its times: a block waits for its next hop even if a later one could
begin. So all timetables are replayed as a program would do them, and the one with the shortest replay is used.

A message first takes an overhead. On fast links, it takes a great part of the time of a message, so pairs of ranks on
such links have more lanes, as long as there are enough blocks.

Pairs of ranks that share a link, as those of a NIC do, get parts of its bandwidth in proportion to their hops that move
data. So each has lanes in proportion to its data, and all pairs of a link are done with it at about the same time.
Reductions are also tried with one hop at a time on these links. Time runs backwards for them, so their hops are as late
as possible, and it does no harm if a program moves some of them earlier. The hops of a broadcast are as early as
possible; those that wait for a link in the timetable would not wait in a program, and slow down urgent ones.

A hop ends after the hops that it depends on have ended, so blocks that work in the order of the ends cannot deadlock
(`chains.py`). A rank that adds up data adds it in this order too, so that it rarely waits. `hop_run.py` describes how
hops share links.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.kernels.events import HopProgram
from forestcoll.programs.lowering.chains import Edges, FloatArray, IntArray
from forestcoll.programs.lowering.hop_run import Hops, Room, Times, hops_to_run, replay, run_hops
from forestcoll.programs.lowering.pair_links import Pair, PairLinks
from forestcoll.programs.lowering.rank_trees import RankTree

FIRST_RUNS = 2
"""The number of timetables that are made for given lanes and a first order: forwards and backwards."""

RUNS = 16
"""The most further timetables for the best order."""

RUNS_IN_VAIN = 4
"""No more are made after so many that are not better than those before."""

LATE = (0, 18)
"""The overheads that are added to the time of a hop on a path, for first orders: hops wait in lanes and for links."""

LANES_OF_OVERHEAD = 7
"""If the overhead takes as long as the data of a message, a pair of ranks has about so many more lanes."""

LANES_OF_LINK = (7, 4)
"""The lanes that all pairs of a busy link have together, about. More are nearer to the proportions of the data, and
need more blocks."""

SECOND_PHASE = 0.8
"""When the second phase begins in the order of both phases: a part of the time of the first phase."""

MOST_IN_PHASES = 40_000
"""The most hops for which both phases are also searched alone: two searches more."""

FEW_HOPS = 20_000
"""The most hops for which timetables with one hop at a time on shared links are tried. More have small messages, which
wait little for each other."""


Order: TypeAlias = tuple[FloatArray, ...]
"""For each hop, numbers: of the hops that wait, the one with the least first number begins first, then the next."""


class _Timetable(NamedTuple):
    """When hops begin and end, their lanes, and the time of a program that keeps their order.

    The busiest link is busy for a time of 1.
    """

    times: Times
    seconds: float


def timetables(
    flows: Sequence[RankTree], edges: Edges, links: PairLinks, lanes: int, overhead: float
) -> list[_Timetable]:
    """Return timetables of the hops of `edges`, for several rooms; the fastest program comes first.

    The busiest link is busy for a time of 1.

    Args:
        flows: the flows.
        edges: their edges; an edge to a rank comes before all edges of the same flow from this rank.
        links: the links between all pairs of ranks.
        lanes: the hops at the same time from one rank to another, if they share no link with other ranks; more if links
            are fast.
        overhead: the time before a hop moves data.
    """
    hops = _hops(flows, edges)
    times = _times(hops, links)
    work = _Work(
        hops,
        places=np.array([flows[flow].position for flow in edges.flow.tolist()]),
        sums=_sums(flows, edges),
        reduces=np.array([flows[flow].op is PhaseOp.REDUCE for flow in edges.flow.tolist()]),
    )
    orders = _first_orders(work, times, overhead)
    found: list[_TimetableSearch] = []
    for room in rooms(hops, times, lanes, overhead, one_at_a_time=work.is_backwards):
        in_order = work.has_phases and len(edges.flow) <= MOST_IN_PHASES
        more = [_order_of_phases(work, times, room, overhead)] if in_order else []
        found.append(_best_search(work, times, room, overhead, [*orders, *more]))
    return [_Timetable(each.best, each.seconds) for each in sorted(found, key=lambda each: each.seconds)]


@dataclass(frozen=True, eq=False)
class _Work:
    """Hops of trees.

    Attributes:
        hops: the hops.
        places: for each hop, the place of its data in its tree, from 0 to 1.
        sums: for each hop, the number of the sum that it is added to; -1 for none.
        reduces: for each hop, whether its data is added up.
    """

    hops: Hops
    places: FloatArray
    sums: IntArray
    reduces: npt.NDArray[np.bool_]

    @property
    def is_backwards(self) -> bool:
        """Whether time runs backwards in the first timetable of an order."""
        return bool(self.reduces.all())

    @property
    def has_phases(self) -> bool:
        """Whether some hops add up data, and others do not."""
        return bool(self.reduces.any() and not self.reduces.all())

    def phase(self, hops: IntArray) -> "_Work":
        """Return some hops alone."""
        sums = np.unique(self.sums[hops], return_inverse=True)[1] if self.reduces[hops].all() else self.sums[hops]
        return _Work(self.hops.only(hops.tolist()), self.places[hops], sums, self.reduces[hops])


def _best_search(
    work: _Work,
    times: Mapping[Pair, Mapping[int, float]],
    room: Room,
    overhead: float,
    orders: Sequence[Order],
) -> "_TimetableSearch":
    """Return the search with the fastest program of those that begin with `orders`."""
    directions = hops_to_run(work.hops, times, room), hops_to_run(work.hops.backwards(), times, room)
    searches = [_TimetableSearch(directions, overhead, work.sums, order, int(work.is_backwards)) for order in orders]
    for search in searches:
        search.run(FIRST_RUNS)
    best = min(searches, key=lambda each: each.seconds)
    best.run(RUNS, RUNS_IN_VAIN)
    return best


def _order_of_phases(work: _Work, times: Mapping[Pair, Mapping[int, float]], room: Room, overhead: float) -> Order:
    """Return the order of a timetable of each phase alone, the second of which begins before the first one ends."""
    begins, start = np.zeros(len(work.places)), 0.0
    for hops in np.flatnonzero(work.reduces), np.flatnonzero(~work.reduces):
        alone = work.phase(hops)
        best = _best_search(alone, times, room, overhead, _first_orders(alone, times, overhead)).best
        begins[hops] = start + best.begins
        start = SECOND_PHASE * best.length
    return (begins,)


def _sums(flows: Sequence[RankTree], edges: Edges) -> IntArray:
    """Return, for each hop, the number of the sum that it is added to; -1 for none."""
    known: dict[tuple[int, int], int] = {}
    rows = zip(edges.flow.tolist(), edges.upper.tolist(), strict=True)
    reduces = [flow.op is PhaseOp.REDUCE for flow in flows]
    return np.array([known.setdefault(row, len(known)) if reduces[row[0]] else -1 for row in rows], dtype=np.int64)


def _hops(flows: Sequence[RankTree], edges: Edges) -> Hops:
    """Return the hops of `edges`: which pairs of ranks they are between, and what they wait for."""
    rows = list(zip(edges.flow.tolist(), edges.upper.tolist(), edges.lower.tolist(), strict=True))
    outward = [flow.op is PhaseOp.BROADCAST for flow in flows]
    into = {(flow, lower): hop for hop, (flow, _, lower) in enumerate(rows)}
    at_root: dict[int, list[int]] = defaultdict(list)
    after: list[list[int]] = [[] for _ in rows]
    for hop, (flow, upper, _) in enumerate(rows):
        if upper == flows[flow].root:
            at_root[flow].append(hop)
        elif outward[flow]:
            after[into[flow, upper]].append(hop)
        else:
            after[hop].append(into[flow, upper])
    for first, second in _same_data(flows):
        for hop in at_root[first]:
            after[hop] += at_root[second]
    pairs = [(upper, lower) if outward[flow] else (lower, upper) for flow, upper, lower in rows]
    return Hops(pairs, [flows[flow].count for flow, _, _ in rows], after)


def _same_data(flows: Sequence[RankTree]) -> Iterator[tuple[int, int]]:
    """Yield pairs of flows: one that reduces, and one that broadcasts a part of the same data."""
    reduced = {
        chunk: number
        for number, flow in enumerate(flows)
        if flow.op is PhaseOp.REDUCE
        for chunk in range(flow.offset, flow.offset + flow.count)
    }
    for number, flow in enumerate(flows):
        if flow.op is PhaseOp.BROADCAST:
            chunks = range(flow.offset, flow.offset + flow.count)
            yield from ((each, number) for each in sorted({reduced[chunk] for chunk in chunks if chunk in reduced}))


def _times(hops: Hops, links: PairLinks) -> Mapping[Pair, Mapping[int, float]]:
    """Return, for each pair of ranks, the time of a chunk on each of its links; the busiest link is busy for 1."""
    loads: dict[int, float] = defaultdict(float)
    for pair, size in zip(hops.pairs, hops.sizes, strict=True):
        for link, time in links.times[pair].items():
            loads[link] += time * size
    busiest = max(loads.values())
    return {
        pair: {link: time / busiest for link, time in links.times[pair].items()} for pair in sorted(set(hops.pairs))
    }


def rooms(
    hops: Hops, times: Mapping[Pair, Mapping[int, float]], lanes: int, overhead: float, *, one_at_a_time: bool = False
) -> list[Room]:
    """Return how many hops may move at the same time, in different ways.

    Args:
        hops: the hops.
        times: for each pair of ranks, the time of a chunk on each of its links.
        lanes: the lanes of a pair that shares no link, at least.
        overhead: the time before a hop moves data.
        one_at_a_time: whether hops that share a link may move one at a time, if there are few of them.
    """
    sizes: dict[Pair, float] = defaultdict(float)
    for pair, size in zip(hops.pairs, hops.sizes, strict=True):
        sizes[pair] += size
    users = Counter(link for taken in times.values() for link in taken)
    parts = {
        pair: max((time * sizes[pair] for link, time in taken.items() if users[link] > 1), default=None)
        for pair, taken in times.items()
    }
    more = _lanes_of_overheads(hops, sizes, times, lanes, overhead)
    many, few = LANES_OF_LINK
    found: list[Room] = []
    for alone, most in (more, many), (dict.fromkeys(times, lanes), many), (more, few):
        counts = {pair: alone[pair] if part is None else max(1, round(most * part)) for pair, part in parts.items()}
        if Room(counts) not in found:
            found.append(Room(counts))
    if one_at_a_time and len(hops.pairs) <= FEW_HOPS and any(part is not None for part in parts.values()):
        found.append(Room(dict.fromkeys(times, lanes), one_at_a_time=True))
    return found


def _lanes_of_overheads(
    hops: Hops, sizes: Mapping[Pair, float], times: Mapping[Pair, Mapping[int, float]], lanes: int, overhead: float
) -> Mapping[Pair, int]:
    """Return the lanes of each pair: more if the overhead of a message is a great part of its time."""
    counts = Counter(hops.pairs)
    messages = {pair: max(taken.values()) * sizes[pair] / counts[pair] for pair, taken in times.items()}
    return {pair: lanes + round(LANES_OF_OVERHEAD * min(1.0, overhead / time)) for pair, time in messages.items()}


def _first_orders(work: _Work, times: Mapping[Pair, Mapping[int, float]], overhead: float) -> list[Order]:
    """Return the first orders of hops."""
    hops, places = (work.hops.backwards(), -work.places) if work.is_backwards else (work.hops, work.places)
    alone = [max(times[pair].values()) for pair in hops.pairs]
    paths = [np.array(_paths(hops, alone, late * overhead)) for late in LATE]
    return [*((places - each, -each) for each in paths), (-paths[0], places)]


@dataclass
class _TimetableSearch:
    """Timetables from a first order: each is made in the order of the ends of the one before, if time ran backwards.

    Attributes:
        directions: the hops forwards and backwards.
        overhead: the time before a hop moves data.
        sums: for each hop, the number of the sum that it is added to; -1 for none.
        order: the order of the next timetable.
        direction: its direction.
        seconds: the shortest replay of a timetable so far.
        best: this timetable.
    """

    directions: tuple[HopProgram, HopProgram]
    overhead: float
    sums: IntArray
    order: Order
    direction: int
    seconds: float = inf
    best: Times = field(init=False)

    def run(self, count: int, in_vain: int | None = None) -> None:
        """Make `count` timetables, and replay them; fewer if `in_vain` in a row are not better than those before."""
        vain = 0
        for _ in range(count):
            done = run_hops(self.directions[self.direction], self.overhead, *self.order)
            made = done.backwards() if self.direction else done
            seconds = replay(self.directions[0], self.overhead, made, self.sums)
            self.order, self.direction = (-done.ends,), 1 - self.direction
            vain += 1
            if self.seconds == inf or seconds < self.seconds:
                self.seconds, self.best, vain = seconds, made, 0
            if vain == in_vain:
                return


def _paths(hops: Hops, times: Sequence[float], late: float) -> Sequence[float]:
    """For each hop, the time of the longest path that begins with it.

    Args:
        hops: the hops.
        times: for each hop, the time of a chunk.
        late: the time of a hop in addition.
    """
    waits = hops.waits
    ready = [hop for hop, count in enumerate(waits) if not count]
    for hop in ready:
        for each in hops.after[hop]:
            waits[each] -= 1
            if not waits[each]:
                ready.append(each)
    paths = [0.0] * len(waits)
    for hop in reversed(ready):
        paths[hop] = hops.sizes[hop] * times[hop] + late + max((paths[each] for each in hops.after[hop]), default=0.0)
    return paths
