"""A timetable of the hops of all trees, in which links rarely wait for data: list scheduling.

In a fast program, the busiest links are busy all the time. So hops begin as soon as their data is there and their links
are free, and of the hops that wait for a link, the one with the longest path to the end of all data begins first, then
the one whose data comes first in its tree. This timetable is then improved: in turn, time runs backwards and forwards,
and hops that ended later in the other direction begin first. The shortest timetable is used.
Both phases of an allreduce are in one timetable: a root begins with data when the first phase is done with it.

A hop begins after the hops that it depends on have ended, so blocks that work in the order of the timetable cannot
deadlock (`chains.py`). `hop_run.py` describes how hops share links.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.lowering.chains import Edges, FloatArray, IntArray
from forestcoll.lowering.flows import Flow
from forestcoll.lowering.hop_run import Hops, Order, Times, run_hops
from forestcoll.lowering.pair_links import PairLinks

RUNS = 5
"""The number of timetables that are made, in turn forwards and backwards."""


def timetable(flows: Sequence[Flow], edges: Edges, links: PairLinks, lanes: int) -> tuple[FloatArray, IntArray]:
    """Return when the hop of each of `edges` begins, and its lane; the busiest link is busy for a time of 1.

    Args:
        flows: the flows.
        edges: their edges; an edge to a rank comes before all edges of the same flow from this rank.
        links: the links between all pairs of ranks.
        lanes: the most hops from one rank to another at the same time.
    """
    places = [flows[flow].position for flow in edges.flow.tolist()]
    hops = _hops(flows, edges)
    if all(flow.op is PhaseOp.REDUCE for flow in flows):
        best = _shortest(hops.backwards(), [-each for each in places], links, lanes).backwards()
    else:
        best = _shortest(hops, places, links, lanes)
    return np.array(best.begins), np.array(best.lanes, dtype=np.int64)


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


def _shortest(hops: Hops, places: Sequence[float], links: PairLinks, lanes: int) -> Times:
    """Return the shortest timetable that is found; data with the least of `places` comes first in its tree."""
    loads: dict[int, float] = defaultdict(float)
    for pair, size in zip(hops.pairs, hops.sizes, strict=True):
        for link, time in links.times[pair].items():
            loads[link] += time * size
    busiest = max(loads.values())
    times = {pair: {link: time / busiest for link, time in links.times[pair].items()} for pair in set(hops.pairs)}
    directions = hops, hops.backwards()
    paths = [-each for each in _paths(hops, [max(times[pair].values()) for pair in hops.pairs])]
    found = []
    order: Order = list(zip(paths, places, strict=True))
    for number in range(RUNS):
        done = run_hops(directions[number % 2], times, lanes, order)
        order = [(-each,) for each in done.ends]
        found.append(done.backwards() if number % 2 else done)
    return min(found, key=lambda each: each.length)


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
