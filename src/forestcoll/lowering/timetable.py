"""A timetable of the hops of all trees, in which links rarely wait for data: list scheduling.

In a fast program, the links between two ranks are busy all the time. So a hop between two ranks takes the part of the
whole time that its chunks are of all chunks between the two. Whenever a pair of ranks is free, it begins one of the
hops whose data has arrived: the one with the longest path below it, or the one whose data comes first in its tree. Both
rules are tried, and the one with the shorter timetable is used. Trees that reduce have the timetable of a broadcast in
reverse. In the second phase of an allreduce, a root begins with data when the first phase is done with it.

A hop begins after the hops that it depends on have ended, so blocks that work in the order of the timetable cannot
deadlock (`chains.py`). It takes time in proportion to the number of hops, times its logarithm.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.lowering.chains import Edges, FloatArray
from forestcoll.lowering.flows import Flow

Pair = tuple[int, int]

_NEAR = 1e-12
"""Hops that end within this time of each other end at the same time."""


def timetable(flows: Sequence[Flow], edges: Edges) -> FloatArray:
    """Return when the hop of each of `edges` begins; the links between two ranks are busy for a time of 1."""
    begins = np.zeros(len(edges.flow))
    phases = np.array([flow.phase for flow in flows])[edges.flow]
    ready: dict[Pair, float] = {}
    for phase in np.unique(phases).tolist():
        here = np.flatnonzero(phases == phase)
        rows = zip(*(column[here].tolist() for column in (edges.flow, edges.upper, edges.lower)), strict=True)
        outward = _Outward(flows, list(rows), ready)
        if flows[edges.flow[here[0]]].op is PhaseOp.REDUCE:
            begins[here] = [outward.length - each for each in outward.ends]
            ready = {_data(flow): 0.0 for flow in flows if flow.phase == phase}
            for (flow, upper, _), begin in zip(outward.rows, outward.begins, strict=True):
                if upper == flows[flow].root:
                    ready[_data(flows[flow])] = max(ready[_data(flows[flow])], outward.length - begin)
        else:
            begins[here] = outward.begins
    return begins


def _data(flow: Flow) -> Pair:
    return flow.root, flow.offset


@dataclass(frozen=True)
class _Outward:
    """The timetable of trees that broadcast.

    Attributes:
        flows: all flows.
        rows: for each hop its flow, the rank that sends and the rank that receives; a hop to a rank comes before all
            hops of the same flow from this rank.
        ready: for a root and the first chunk of a flow, when the root has the data; 0 if it is not there.
    """

    flows: Sequence[Flow]
    rows: Sequence[tuple[int, int, int]]
    ready: Mapping[Pair, float] = field(default_factory=dict)

    @cached_property
    def begins(self) -> Sequence[float]:
        """The begins of all hops."""
        places = [self.flows[flow].position for flow, _, _ in self.rows]
        paths = [-each for each in self._paths]
        rules = (list(zip(paths, places, strict=True)), list(zip(places, paths, strict=True)))
        return min((self._with(rule) for rule in rules), key=lambda begins: max(self._ends_of(begins)))

    @cached_property
    def ends(self) -> Sequence[float]:
        """The ends of all hops."""
        return self._ends_of(self.begins)

    @cached_property
    def length(self) -> float:
        """The end of the last hop."""
        return max(self.ends)

    def _ends_of(self, begins: Sequence[float]) -> Sequence[float]:
        return [begin + each for begin, each in zip(begins, self._durations, strict=True)]

    @cached_property
    def _durations(self) -> Sequence[float]:
        loads: dict[Pair, int] = defaultdict(int)
        for flow, upper, lower in self.rows:
            loads[upper, lower] += self.flows[flow].count
        return [self.flows[flow].count / loads[upper, lower] for flow, upper, lower in self.rows]

    @cached_property
    def _below(self) -> Sequence[Sequence[int]]:
        """For each hop, those that send its data on."""
        into = {(flow, lower): hop for hop, (flow, _, lower) in enumerate(self.rows)}
        below: list[list[int]] = [[] for _ in self.rows]
        for hop, (flow, upper, _) in enumerate(self.rows):
            if (flow, upper) in into:
                below[into[flow, upper]].append(hop)
        return below

    @cached_property
    def _paths(self) -> Sequence[float]:
        """For each hop, the time of the longest path that begins with it."""
        paths = list(self._durations)
        for hop in reversed(range(len(paths))):
            paths[hop] += max((paths[each] for each in self._below[hop]), default=0.0)
        return paths

    def _with(self, rule: Sequence[tuple[float, float]]) -> Sequence[float]:
        """Return the begins of all hops if each pair of ranks begins the least hop by `rule` that is ready."""
        begins, busy = [0.0] * len(self.rows), set[Pair]()
        waiting: dict[Pair, list[tuple[tuple[float, float], int]]] = defaultdict(list)
        events = [
            (self.ready.get(_data(self.flows[flow]), 0.0), False, hop)
            for hop, (flow, upper, _) in enumerate(self.rows)
            if upper == self.flows[flow].root
        ]
        events.sort()
        while events:
            now, pairs = events[0][0], set[Pair]()
            while events and events[0][0] <= now + _NEAR:
                _, ended, hop = heappop(events)
                if ended:
                    busy.discard(self.rows[hop][1:])
                    pairs.add(self.rows[hop][1:])
                for each in self._below[hop] if ended else (hop,):
                    heappush(waiting[self.rows[each][1:]], (rule[each], each))
                    pairs.add(self.rows[each][1:])
            for pair in sorted(pairs):
                if waiting[pair] and pair not in busy:
                    _, hop = heappop(waiting[pair])
                    busy.add(pair)
                    begins[hop] = now
                    heappush(events, (now + self._durations[hop], True, hop))
        return begins
