"""A timetable of the hops of all trees, in which links rarely wait for data: list scheduling.

In a fast program, the busiest links are busy all the time. So hops begin as soon as their data is there and a lane of
their pair of ranks is free. Of the hops that wait for a lane, one with early data in its tree and a long path to the
end of all data begins first: if trees moved at different speeds, links would have nothing to do at the end. With few
chunks, it may be better that the longest path alone decides, so both orders are tried. Each timetable is then improved:
in turn, time runs backwards and forwards, and hops that ended later in the other direction begin first. Both phases of
an allreduce are in one timetable: a root begins with data when the first phase is done with it.

A program keeps the order of a timetable, but not its times: a block waits for its next hop even if a later one could
begin. So the shortest timetables are replayed as a program would do them, and the one with the shortest replay is used.

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

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.core.events import HopProgram
from forestcoll.lowering.chains import Edges, FloatArray, IntArray
from forestcoll.lowering.flows import Flow
from forestcoll.lowering.hop_run import Hops, Room, Times, hops_to_run, replay, run_hops
from forestcoll.lowering.pair_links import Pair, PairLinks

RUNS = 5
"""The number of timetables that are made for given lanes and a first order, in turn forwards and backwards."""

REPLAYS = 4
"""The number of timetables that are replayed for given lanes."""

LANES_OF_LINK = (7, 4)
"""The lanes that all pairs of a busy link have together, about. More are nearer to the proportions of the data, and
need more blocks."""

FEW_HOPS = 20_000
"""The most hops for which timetables with one hop at a time on shared links are tried. More have small messages, which
wait little for each other."""


def timetables(
    flows: Sequence[Flow], edges: Edges, links: PairLinks, lanes: int, overhead: float
) -> list[tuple[FloatArray, IntArray]]:
    """Return when the hop of each of `edges` ends, and its lane, for several rooms; the fastest program comes first.

    The busiest link is busy for a time of 1.

    Args:
        flows: the flows.
        edges: their edges; an edge to a rank comes before all edges of the same flow from this rank.
        links: the links between all pairs of ranks.
        lanes: the most hops at the same time from one rank to another, if they share no link with other ranks.
        overhead: the time before a hop moves data.
    """
    places = np.array([flows[flow].position for flow in edges.flow.tolist()])
    hops = _hops(flows, edges)
    times, sums = _times(hops, links), _sums(flows, edges)
    is_backwards = all(flow.op is PhaseOp.REDUCE for flow in flows)
    found = []
    for room in rooms(hops, times, lanes, one_at_a_time=is_backwards):
        forwards, backwards = (hops_to_run(each, times, room) for each in (hops, hops.backwards()))
        made = _made(hops, places, times, (forwards, backwards), overhead, is_backwards=is_backwards)
        shortest = sorted(made, key=lambda each: each.length)[:REPLAYS]
        replays = ((replay(forwards, overhead, each, sums), each) for each in shortest)
        found.append(min(replays, key=lambda each: each[0]))
    return [(each.ends, each.lanes) for _, each in sorted(found, key=lambda each: each[0])]


def _sums(flows: Sequence[Flow], edges: Edges) -> IntArray:
    """Return, for each hop, the number of the sum that it is added to; -1 for none."""
    known: dict[tuple[int, int], int] = {}
    rows = zip(edges.flow.tolist(), edges.upper.tolist(), strict=True)
    reduces = [flow.op is PhaseOp.REDUCE for flow in flows]
    return np.array([known.setdefault(row, len(known)) if reduces[row[0]] else -1 for row in rows], dtype=np.int64)


def _hops(flows: Sequence[Flow], edges: Edges) -> Hops:
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


def _same_data(flows: Sequence[Flow]) -> Iterator[tuple[int, int]]:
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
    hops: Hops, times: Mapping[Pair, Mapping[int, float]], lanes: int, *, one_at_a_time: bool = False
) -> list[Room]:
    """Return how many hops may move at the same time, in different ways.

    Args:
        hops: the hops.
        times: for each pair of ranks, the time of a chunk on each of its links.
        lanes: the lanes of a pair that shares no link.
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
    found: list[Room] = []
    for most in LANES_OF_LINK:
        counts = {pair: lanes if part is None else max(1, round(most * part)) for pair, part in parts.items()}
        if Room(counts) not in found:
            found.append(Room(counts))
    if one_at_a_time and len(hops.pairs) <= FEW_HOPS and any(part is not None for part in parts.values()):
        found.append(Room(dict.fromkeys(times, lanes), one_at_a_time=True))
    return found


def _made(  # noqa: PLR0913 (the hops, how they run, and their costs)
    hops: Hops,
    places: FloatArray,
    times: Mapping[Pair, Mapping[int, float]],
    directions: tuple[HopProgram, HopProgram],
    overhead: float,
    *,
    is_backwards: bool,
) -> Iterator[Times]:
    """Yield timetables; `places` are those of the data in its tree, `directions` the hops forwards and backwards."""
    if is_backwards:
        hops, places = hops.backwards(), -places
    paths = np.array(_paths(hops, [max(times[pair].values()) for pair in hops.pairs]))
    first_orders: tuple[tuple[FloatArray, ...], ...] = (places - paths, -paths), (-paths, places)
    for order in first_orders:
        for number in range(RUNS):
            direction = (number + is_backwards) % 2
            done = run_hops(directions[direction], overhead, *order)
            order = (-done.ends,)  # noqa: PLW2901 (the next order follows from the last timetable)
            yield done.backwards() if direction else done


def _paths(hops: Hops, times: Sequence[float]) -> Sequence[float]:
    """For each hop, the time of the longest path that begins with it; `times` are those of a chunk."""
    waits = hops.waits
    ready = [hop for hop, count in enumerate(waits) if not count]
    for hop in ready:
        for each in hops.after[hop]:
            waits[each] -= 1
            if not waits[each]:
                ready.append(each)
    paths = [0.0] * len(waits)
    for hop in reversed(ready):
        paths[hop] = hops.sizes[hop] * times[hop] + max((paths[each] for each in hops.after[hop]), default=0.0)
    return paths
