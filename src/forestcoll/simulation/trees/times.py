"""The time of pipelined trees, as a closed form.

The trees on a link share it in proportion to the data that they send over it. So one of p pieces of a tree's data
crosses a link in the time w·M/p, where w is the time that the link is busy for one byte of M; this w is the same for
all trees on the link. A send over several links takes as long as the slowest of them, plus alpha and the overhead of a
chunk. The last piece leaves the root after p - 1 pieces have crossed the slowest link of the tree. For a node, let D be
the sum of the latencies on its path from the root, and W the sum, over the sends on that path, of the w of the slowest
link. Let w be the greatest w in the tree. Then

    T(p) = D + W·M/p + (p - 1)·(overhead + w·M/p),

and the time of the schedule is the maximum over all nodes of all trees. In an allreduce, a path goes up a tree that
reduces and then down a tree that broadcasts. T is convex in p, and the best p grows with the square root of M. As M
grows, T/M falls to the greatest w of all links, which is 1/algbw of the schedule. For small M, p = 1, and T is about D,
which depends on the height of the trees.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray, Loads, shares_of
from forestcoll.simulation.routes import RouteTimes
from forestcoll.simulation.trees.loads import parts_of

_CELLS = 2**20


@dataclass(frozen=True)
class TreeModel:
    """The times of a schedule of trees.

    Attributes:
        schedule: the schedule.
        costs: the latency and the overhead.
        loads: the loads of the links.
        delays: one row (D, W, w) for each node of each tree that can be the last to have all its data.
        greatest_share: the greatest share of a tree.
    """

    schedule: TreeSchedule
    costs: Costs
    loads: Loads
    delays: FloatArray
    greatest_share: float

    @staticmethod
    def of(schedule: TreeSchedule, costs: Costs | None = None) -> "TreeModel":
        """Return the model of `schedule`, whose trees must list each route after those that feed it.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        costs = costs or Costs()
        if any(link.latency_us for link in schedule.topology.links):
            schedule = expanded(schedule)  # a symmetry may map links to links of another latency
        loads = Loads.of_parts(schedule.topology, parts_of(schedule))
        routes = _Routes.of(schedule, loads, costs)
        delays = np.zeros((1, 3))
        for phase in schedule.phases:
            further = _delays(phase, routes, len(schedule.topology.nodes))
            sums = delays[:, None, :2] + further[None, :, :2]
            slowest = np.maximum(delays[:, None, 2], further[None, :, 2])
            delays = _latest(np.concatenate([sums, slowest[:, :, None]], axis=2).reshape(-1, 3))
        share = max(float(shares_of(phase).max()) for phase in schedule.phases)
        return TreeModel(schedule, costs, loads, delays, share)

    def seconds(self, size: int, pieces: int) -> float:
        """Return T(p) in seconds for M of `size` bytes and p = `pieces`."""
        latency, busy, slowest = self.delays.T
        piece = size / pieces
        overhead = self.costs.overhead_us * 1e-6
        return float((latency + busy * piece + (pieces - 1) * (overhead + slowest * piece)).max())

    def best_pieces(self, size: int) -> int:
        """Return the number of pieces with the least T, by bisection, because T is convex."""
        low, high = 1, max(1, int(size * self.greatest_share))
        while low < high:
            middle = (low + high) // 2
            if self.seconds(size, middle) <= self.seconds(size, middle + 1):
                high = middle
            else:
                low = middle + 1
        return low

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes in the best number of pieces."""
        pieces = self.best_pieces(size)
        seconds, part = self.seconds(size, pieces), self.greatest_share
        return point_at(self.schedule, size=size, seconds=seconds, pieces=pieces, part=part)


@dataclass(frozen=True)
class _Routes:
    """For each route, its two ends, the latency of a send over it in seconds, and the w of its slowest link."""

    firsts: npt.NDArray[np.int64]
    lasts: npt.NDArray[np.int64]
    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(schedule: TreeSchedule, loads: Loads, costs: Costs) -> "_Routes":
        routes = schedule.routes
        times = RouteTimes.of(schedule.topology, routes, loads, costs)
        firsts = routes.entries[routes.starts[:-1]].astype(np.int64)
        lasts = routes.entries[routes.starts[1:] - 1].astype(np.int64)
        return _Routes(firsts, lasts, times.latencies, times.slowest)


def _delays(phase: Phase, routes: _Routes, nodes: int) -> FloatArray:
    """Return (D, W, w) of those nodes of all trees that can be the last."""
    outward = phase.op is PhaseOp.BROADCAST
    uppers, lowers = (routes.firsts, routes.lasts) if outward else (routes.lasts, routes.firsts)
    count = max(1, _CELLS // (nodes + 1))
    found = [np.zeros((0, 3))]
    for begin in range(0, len(phase), count):
        starts = phase.routes.starts[begin : begin + count + 1]
        rows = Rows(starts - starts[0], phase.routes.entries[starts[0] : starts[-1]])
        found.append(_latest(_delays_of_trees(rows if outward else rows.backwards(), uppers, lowers, routes, nodes)))
    return _latest(np.concatenate(found))


def _delays_of_trees(
    trees: Rows, uppers: npt.NDArray[np.int64], lowers: npt.NDArray[np.int64], routes: _Routes, nodes: int
) -> FloatArray:
    """Return (D, W, w) for each tree and node; all trees advance together, one position at a time."""
    sizes = np.diff(trees.starts)
    latency, busy = np.zeros((2, len(trees) * (nodes + 1)))
    slowest = np.zeros(len(trees))
    for position in range(int(sizes.max(initial=0))):
        listed = np.flatnonzero(sizes > position)
        route = trees.entries[trees.starts[listed] + position]
        source, target = listed * (nodes + 1) + uppers[route], listed * (nodes + 1) + lowers[route]
        latency[target] = latency[source] + routes.latencies[route]
        busy[target] = busy[source] + routes.slowest[route]
        slowest[listed] = np.maximum(slowest[listed], routes.slowest[route])
    return np.stack([latency, busy, np.repeat(slowest, nodes + 1)], axis=1)


def _latest(rows: FloatArray) -> FloatArray:
    """Return the rows that are not dominated: no other row is at least as great in all three columns."""
    distinct = np.unique(rows, axis=0)[::-1]
    kept: list[FloatArray] = []
    for row in distinct:
        if not any((row <= other).all() for other in kept):
            kept.append(row)
    return np.array(kept)
