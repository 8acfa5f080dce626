"""How long pipelined trees take: a closed form.

Every link is shared by its trees in proportion to what they send over it, so a piece of 1/p of a tree's part crosses a
link in the time w·M/p, where w is how long the link is busy for a byte of M, whatever tree it is. A send over several
links takes the slowest of them, plus alpha and the overhead of a chunk. The last piece leaves the root when p - 1
pieces have passed the tree's slowest link, and the pieces follow each other down the tree, so with D the latencies on
the way to a node, W the sum of its sends' slowest w, and w the greatest of the tree,

    T(p) = D + W·M/p + (p - 1)·(overhead + w·M/p),

the greatest over all nodes of all trees; of an allreduce, on the way up one tree and down another. T is convex in p,
and the best p grows as the square root of M. As M grows, T/M falls to the greatest w of any link: 1/algbw, exactly the
schedule's. For small M, p = 1 and T is D: the height of the trees.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.shape import link_numbers
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray, Loads, hops_of, shares_of
from forestcoll.simulation.trees.loads import parts_of

_CELLS = 2**20


@dataclass(frozen=True)
class TreeModel:
    """The times of a schedule with some costs.

    Attributes:
        schedule: the schedule.
        costs: what sending costs.
        loads: of its links.
        ways: rows of D, W and w: nodes of trees, those left out that are never the last.
        greatest_share: of a tree.
    """

    schedule: TreeSchedule
    costs: Costs
    loads: Loads
    ways: FloatArray
    greatest_share: float

    @staticmethod
    def of(schedule: TreeSchedule, costs: Costs | None = None) -> "TreeModel":
        """Return the model of `schedule`, whose trees must list each route after those that feed it.

        Raises:
            InputError: nobody knows the unit of the network's bandwidths.
        """
        costs = costs or Costs()
        if any(link.latency_us for link in schedule.topology.links):
            schedule = expanded(schedule)  # a symmetry says nothing of latencies
        loads = Loads.of_parts(schedule.topology, parts_of(schedule))
        routes = _Routes.of(schedule, loads, costs)
        ways = np.zeros((1, 3))
        for phase in schedule.phases:
            further = _ways(phase, routes, len(schedule.topology.nodes))
            sums = ways[:, None, :2] + further[None, :, :2]
            slowest = np.maximum(ways[:, None, 2], further[None, :, 2])
            ways = _latest(np.concatenate([sums, slowest[:, :, None]], axis=2).reshape(-1, 3))
        share = max(float(shares_of(phase).max()) for phase in schedule.phases)
        return TreeModel(schedule, costs, loads, ways, share)

    def seconds(self, size: int, pieces: int) -> float:
        """Return T for M of `size` bytes in so many `pieces`."""
        latency, ways, slowest = self.ways.T
        piece = size / pieces
        overhead = self.costs.overhead_us * 1e-6
        return float((latency + ways * piece + (pieces - 1) * (overhead + slowest * piece)).max())

    def best_pieces(self, size: int) -> int:
        """Return the number of pieces with the least T: T is convex, so where it begins to rise."""
        low, high = 1, max(1, int(size * self.greatest_share))
        while low < high:
            middle = (low + high) // 2
            if self.seconds(size, middle) <= self.seconds(size, middle + 1):
                high = middle
            else:
                low = middle + 1
        return low

    def point(self, size: int) -> Point:
        """Return what M of `size` bytes takes, in the best number of pieces."""
        pieces = self.best_pieces(size)
        seconds, part = self.seconds(size, pieces), self.greatest_share
        return point_at(self.schedule, size=size, seconds=seconds, pieces=pieces, part=part)


@dataclass(frozen=True)
class _Routes:
    """Of each route its ends, the latency of a send over it in seconds, and its slowest link's w."""

    firsts: npt.NDArray[np.int64]
    lasts: npt.NDArray[np.int64]
    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(schedule: TreeSchedule, loads: Loads, costs: Costs) -> "_Routes":
        routes, topology = schedule.routes, schedule.topology
        sources, targets, of_route = hops_of(routes)
        links = link_numbers(topology, sources, targets)
        slowest = np.zeros(len(routes))
        np.maximum.at(slowest, of_route, loads.seconds[links])
        stated = np.array([float(link.latency_us or 0) for link in topology.links])
        latencies = np.bincount(of_route, stated[links], len(routes))
        firsts = routes.entries[routes.starts[:-1]].astype(np.int64)
        lasts = routes.entries[routes.starts[1:] - 1].astype(np.int64)
        sends = np.array([node.is_compute for node in topology.nodes])[firsts]
        latencies += np.where(sends, costs.alpha_us + costs.overhead_us, 0.0)
        return _Routes(firsts, lasts, np.asarray(latencies * 1e-6, dtype=np.float64), slowest)


def _ways(phase: Phase, routes: _Routes, nodes: int) -> FloatArray:
    """Return D, W and w of the nodes of all trees that can be last."""
    outward = phase.op is PhaseOp.BROADCAST
    uppers, lowers = (routes.firsts, routes.lasts) if outward else (routes.lasts, routes.firsts)
    count = max(1, _CELLS // (nodes + 1))
    found = [np.zeros((0, 3))]
    for begin in range(0, len(phase), count):
        starts = phase.routes.starts[begin : begin + count + 1]
        rows = Rows(starts - starts[0], phase.routes.entries[starts[0] : starts[-1]])
        found.append(_latest(_ways_of_trees(rows if outward else rows.backwards(), uppers, lowers, routes, nodes)))
    return _latest(np.concatenate(found))


def _ways_of_trees(
    trees: Rows, uppers: npt.NDArray[np.int64], lowers: npt.NDArray[np.int64], routes: _Routes, nodes: int
) -> FloatArray:
    """Return D, W and w of every cell, a cell for each tree and node; all trees advance a position at a time."""
    sizes = np.diff(trees.starts)
    latency, ways = np.zeros((2, len(trees) * (nodes + 1)))
    slowest = np.zeros(len(trees))
    for position in range(int(sizes.max(initial=0))):
        listed = np.flatnonzero(sizes > position)
        route = trees.entries[trees.starts[listed] + position]
        source, target = listed * (nodes + 1) + uppers[route], listed * (nodes + 1) + lowers[route]
        latency[target] = latency[source] + routes.latencies[route]
        ways[target] = ways[source] + routes.slowest[route]
        slowest[listed] = np.maximum(slowest[listed], routes.slowest[route])
    return np.stack([latency, ways, np.repeat(slowest, nodes + 1)], axis=1)


def _latest(rows: FloatArray) -> FloatArray:
    """Return the rows that no other row is at least as great as in all three, or few more."""
    distinct = np.unique(rows, axis=0)[::-1]
    kept: list[FloatArray] = []
    for row in distinct:
        if not any((row <= other).all() for other in kept):
            kept.append(row)
    return np.array(kept)
