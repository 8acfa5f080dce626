"""Replacement of redundant sends in trees by copies or sums on switches (ForestColl §5.6).

After a route passes through a switch that can multicast, the switch has the data of the tree. To send this data to the
switch again in the same tree is redundant. So the routes of each tree are processed in the order in which data flows. A
route that passes through switches that already have the data begins at the last of them instead. The route that first
brought the data to the switch is cut there into two routes. No link carries more than before, and each compute node is
still reached once. The optimum of an allgather does not change, because each compute node receives the same data.

A route is dropped if it ends on a switch at which no other route begins. This happens on *copying* switches, to which
all data is sent when trees are found. Trees that reduce are reversed first; switches then add up instead of copy.

All trees are processed together, one position of their routes at a time. The cost is a few array operations for each
position.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.trees.expansion import distinct_rows
from forestcoll.schedule.trees.value import Phase
from forestcoll.topology import Topology

_BoolArray = npt.NDArray[np.bool_]

_CELLS = 2**22
"""The most cells in a table of trees, unless one tree needs more: trees are processed in blocks."""


def joined_at_switches(topology: Topology, routes: Rows, phase: Phase) -> tuple[Rows, Phase]:
    """Return the routes and the phase without redundant sends. Some of the routes may not be used by any tree."""
    capable = [node.multicast if phase.op is PhaseOp.BROADCAST else node.aggregation for node in topology.nodes]
    if not any(capable) or not len(phase):
        return routes, phase
    if phase.op is PhaseOp.BROADCAST:
        return _joined(np.array(capable), routes, phase)
    routes, phase = _joined(np.array(capable), routes.backwards(), replace(phase, routes=phase.routes.backwards()))
    return routes.backwards(), replace(phase, routes=phase.routes.backwards())


def _joined(capable: _BoolArray, routes: Rows, phase: Phase) -> tuple[Rows, Phase]:
    paths = _Paths.of(capable, routes)
    longest = max(1, phase.routes.longest)
    count = max(1, _CELLS // max(paths.switches + 1, longest * paths.capable.shape[1]))
    pieces = [
        _block(paths, Rows(starts - starts[0], phase.routes.entries[starts[0] : starts[-1]]))
        for starts in (phase.routes.starts[begin : begin + count + 1] for begin in range(0, len(phase), count))
    ]
    lengths = np.concatenate([lengths for lengths, _ in pieces])
    segments = np.concatenate([segments for _, segments in pieces])
    distinct, numbers = np.unique(segments, axis=0, return_inverse=True)
    table, merged = distinct_rows(_cut_out(routes, distinct))
    return table, replace(phase, routes=Rows(row_starts(lengths), merged[numbers.reshape(-1)].astype(np.int32)))


def _cut_out(routes: Rows, segments: IntArray) -> Rows:
    """Return the parts of routes that `segments` lists: route, first place, last place."""
    lengths = segments[:, 2] - segments[:, 1] + 1
    starts = row_starts(lengths)
    begins = routes.starts[segments[:, 0]] + segments[:, 1]
    places = np.repeat(begins - starts[:-1], lengths) + np.arange(starts[-1])
    return Rows(starts, routes.entries[places])


@dataclass(frozen=True, eq=False, slots=True)
class _Paths:
    """The routes as a table with one column for each place on a route.

    Attributes:
        capable: for each route and place, the number of the capable switch there, counted among capable switches only;
            `switches` if there is no capable switch.
        lasts: the last place of each route.
        switches: the number of capable switches.
    """

    capable: IntArray
    lasts: IntArray
    switches: int

    @staticmethod
    def of(capable: _BoolArray, routes: Rows) -> "_Paths":
        switches = int(capable.sum())
        numbers = np.full(len(capable), switches, dtype=np.int64)
        numbers[capable] = np.arange(switches)
        lengths = np.diff(routes.starts)
        table = np.full((len(routes), int(lengths.max(initial=0))), switches, dtype=np.int64)
        rows = np.repeat(np.arange(len(routes)), lengths)
        table[rows, np.arange(len(rows)) - np.repeat(routes.starts[:-1], lengths)] = numbers[routes.entries]
        return _Paths(table, lengths - 1, switches)


def _block(paths: _Paths, trees: Rows) -> tuple[IntArray, IntArray]:
    """Return the number of segments of each tree, and all segments: route, first place, last place."""
    begins, used = _begins(paths, trees)
    tree = np.repeat(np.arange(len(trees)), np.diff(trees.starts))
    switches = paths.capable[trees.entries]
    places = np.arange(switches.shape[1])
    lasts = paths.lasts[trees.entries]
    is_on = (places > begins[:, None]) & (places <= lasts[:, None])
    # A segment ends on each switch at which later routes begin, and at the end of the route if that is a compute node.
    # A copying switch at which no route begins needs no data.
    is_end = is_on & used[tree[:, None], switches]
    is_compute_end = switches[np.arange(len(lasts)), lasts] == paths.switches
    is_end[np.flatnonzero(is_compute_end), lasts[is_compute_end]] = True
    entry, last = np.nonzero(is_end)
    is_first = np.r_[True, entry[1:] != entry[:-1]]
    first = np.where(is_first, begins[entry], np.r_[0, last[:-1]])
    counts = np.bincount(tree[entry], minlength=len(trees))
    return counts, np.stack([trees.entries[entry].astype(np.int64), first, last], axis=1)


def _begins(paths: _Paths, trees: Rows) -> tuple[IntArray, _BoolArray]:
    """Return the place at which each entry of the trees now begins, and for each tree the switches whose data is used.

    A route to a copying switch is needed only if another route begins there, which is known only at the end. So the
    first pass treats it as any other route, and a second pass, backwards, finds the switches whose data is used.
    """
    sizes = np.diff(trees.starts)
    held = np.zeros((len(trees), paths.switches + 1), dtype=np.bool_)
    used = np.zeros_like(held)
    begins = np.zeros(len(trees.entries), dtype=np.int64)
    places = np.arange(paths.capable.shape[1])
    for position in range(int(sizes.max())):
        tree = np.flatnonzero(sizes > position)
        entries = trees.starts[tree] + position
        routes = trees.entries[entries]
        switches = paths.capable[routes]
        has_data = held[tree[:, None], switches]
        begin = np.where(has_data, places, 0).max(axis=1)
        begins[entries] = begin
        is_new = (places >= begin[:, None]) & (places <= paths.lasts[routes][:, None])
        held[np.repeat(tree, len(places)), np.where(is_new, switches, paths.switches).reshape(-1)] = True
        held[:, paths.switches] = False
    for position in reversed(range(int(sizes.max()))):
        tree = np.flatnonzero(sizes > position)
        entries = trees.starts[tree] + position
        routes = trees.entries[entries]
        switches = paths.capable[routes]
        is_needed = (used[tree[:, None], switches] & (places > begins[entries][:, None])).any(axis=1)
        is_needed |= switches[np.arange(len(tree)), paths.lasts[routes]] == paths.switches
        start = switches[np.arange(len(tree)), begins[entries]]
        used[tree[is_needed], start[is_needed]] = True
        used[:, paths.switches] = False
    return begins, used
