"""The time of pipelined trees, as a closed form.

The trees on a link share it in proportion to the data that they send over it. So one of p pieces of a tree's data
crosses a link in the time w·M/p, where w is the time that the link is busy for one byte of M; this w is the same for
all trees on the link. In the same way, trees share the channels of a rank, if the costs limit them. A send over several
links takes as long as the slowest of them and of the ranks at its ends, plus alpha and the overhead of a chunk. In a
phase that reduces, the time to add up the data is added to this w. The last piece leaves the root after p - 1 pieces
have crossed the slowest link of the tree. For a node, let D be the sum of the latencies on its path from the root, and
W the sum, over the sends on that path, of the w of the send. Let w be the greatest w in the tree. Then

    T(p) = launch + D + W·M/p + (p - 1)·(overhead + w·M/p),

and the time of the schedule is the maximum over all nodes of all trees. In an allreduce, a path goes up a tree that
reduces and then down a tree that broadcasts. T is convex in p, and the best p grows with the square root of M. As M
grows, T/M falls to the greatest w of all sends, which is 1/algbw of the schedule if only links cost time. For small M,
p = 1, and T is about D, which depends on the height of the trees.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.loads import hops_of, link_numbers, loads_along_routes
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Rates, Wires, differs_by_image

_CELLS = 2**20


@dataclass(frozen=True)
class TreeWork:
    """What a schedule of trees sends: everything in its times that does not depend on costs.

    Attributes:
        schedule: the schedule, with every tree listed if images of a tree may take another time.
        wires: the links of the network.
        sends: the routes.
        parts: for each phase, the part of M that crosses each link.
        greatest_share: the greatest share of a tree.
        others: the data that other schedules send over each link at the same time, in multiples of M; None if there are
            none.
    """

    schedule: TreeSchedule
    wires: Wires
    sends: "_Sends"
    parts: tuple[FloatArray, ...]
    greatest_share: float
    others: FloatArray | None = None

    @staticmethod
    def of(schedule: TreeSchedule, costs: Costs | None = None) -> "TreeWork":
        """Return the work of `schedule`, whose trees must list each route after those that feed it.

        Args:
            schedule: the schedule.
            costs: the only costs that `model` will be called with; None for any.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        if schedule.symmetry is not None and differs_by_image(schedule.topology, costs):
            schedule = expanded(schedule)
        sends = _Sends.of(schedule)
        by_phase = ((schedule.topology, schedule.routes, [phase], schedule.symmetry) for phase in schedule.phases)
        return TreeWork(
            schedule=schedule,
            wires=Wires.of(schedule.topology),
            sends=sends,
            parts=tuple(loads_along_routes(*each).parts for each in by_phase),
            greatest_share=max(float(max(set(phase.shares))) for phase in schedule.phases),
        )

    def model(self, costs: Costs) -> "TreeModel":
        """Return the times with these costs."""
        rates, sends, nodes = Rates.of(self.wires, costs), self.sends, len(self.schedule.topology.nodes)
        latencies = (sends.stated + np.where(sends.is_new, costs.alpha_us + costs.overhead_us, 0.0)) * 1e-6
        busy = self._busy(rates)
        delays = np.zeros((1, 3))
        for phase, parts in zip(self.schedule.phases, self.parts, strict=True):
            times = busy
            if phase.op is PhaseOp.REDUCE and rates.reduction:
                received = self.wires.rank_loads(parts).received
                times = busy + rates.reduction * received[sends.lasts]
            further = _delays(phase, sends, latencies, times, nodes)
            sums = delays[:, None, :2] + further[None, :, :2]
            slowest = np.maximum(delays[:, None, 2], further[None, :, 2])
            delays = _latest(np.concatenate([sums, slowest[:, :, None]], axis=2).reshape(-1, 3))
        return TreeModel(self.schedule, costs, delays, self.greatest_share)

    @cached_property
    def senders(self) -> FloatArray:
        """For each node, how many ranks or switches send to it."""
        nodes = len(self.schedule.topology.nodes)
        pairs = np.unique(self.sends.firsts * nodes + self.sends.lasts)
        return np.bincount(pairs % nodes, minlength=nodes).astype(np.float64)

    def _busy(self, rates: Rates) -> FloatArray:
        """Return, for each route, the w of its slowest link or of the rank at one of its ends."""
        others = np.zeros(len(rates.links)) if self.others is None else self.others
        parts, sends = sum(self.parts, others), self.sends
        links = parts * rates.links
        busy = np.zeros(len(self.schedule.routes))
        np.maximum.at(busy, sends.of_route, links[sends.links])
        if rates.incast:
            busy = np.maximum(busy, links[sends.last_links] * rates.slower(self.senders)[sends.lasts])
        if rates.rank:
            ranks = self.wires.rank_loads(parts)
            busy = np.maximum(busy, rates.rank * np.maximum(ranks.sent[sends.firsts], ranks.received[sends.lasts]))
        return busy


@dataclass(frozen=True)
class TreeModel:
    """The times of a schedule of trees.

    Attributes:
        schedule: the schedule.
        costs: the costs.
        delays: one row (D, W, w) for each node of each tree that can be the last to have all its data.
        greatest_share: the greatest share of a tree.
    """

    schedule: TreeSchedule
    costs: Costs
    delays: FloatArray
    greatest_share: float

    @staticmethod
    def of(schedule: TreeSchedule, costs: Costs | None = None) -> "TreeModel":
        """Return the model of `schedule`, whose trees must list each route after those that feed it.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        costs = costs or Costs()
        return TreeWork.of(schedule, costs).model(costs)

    def seconds(self, size: int, pieces: int) -> float:
        """Return T(p) in seconds for M of `size` bytes and p = `pieces`."""
        latency, busy, slowest = self.delays.T
        piece = size / pieces
        overhead = self.costs.overhead_us * 1e-6
        pipelined = (latency + busy * piece + (pieces - 1) * (overhead + slowest * piece)).max()
        return self.costs.launch_us * 1e-6 + float(pipelined)

    def best_pieces(self, size: int) -> int:
        """Return the number of pieces with the least T, by bisection, because T is convex.

        T of one node is least at sqrt((W - w)·M/overhead), and the maximum over all nodes between the least and the
        greatest of these numbers.
        """
        most = max(1, int(size * self.greatest_share))
        _, busy, slowest = self.delays.T
        overhead = self.costs.overhead_us * 1e-6
        transfers = np.maximum(busy - slowest, 0) * size
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bests = np.where(transfers > 0, np.sqrt(transfers / overhead), 1.0)
        bests = np.clip(bests, 1, most)
        low, high = int(bests.min()), min(most, int(bests.max()) + 1)
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
class _Sends:
    """The routes of a schedule, each with its two ends.

    Attributes:
        firsts: the first node of each route.
        lasts: the last node of each route.
        last_links: the number of the last link of each route.
        is_new: whether a route starts on a compute node, which sends, and not on a switch, which copies.
        stated: the latency of the links of each route that the network states, in microseconds.
        links: the number of the link of each hop, for all routes.
        of_route: the route of each hop.
    """

    firsts: npt.NDArray[np.int64]
    lasts: npt.NDArray[np.int64]
    last_links: npt.NDArray[np.int64]
    is_new: npt.NDArray[np.bool_]
    stated: FloatArray
    links: npt.NDArray[np.int64]
    of_route: IntArray

    @staticmethod
    def of(schedule: TreeSchedule) -> "_Sends":
        routes, topology = schedule.routes, schedule.topology
        sources, targets, of_route = hops_of(routes)
        links = link_numbers(topology, sources, targets)
        latencies = np.array([float(link.latency_us or 0) for link in topology.links])
        firsts = routes.entries[routes.starts[:-1]].astype(np.int64)
        return _Sends(
            firsts=firsts,
            lasts=routes.entries[routes.starts[1:] - 1].astype(np.int64),
            last_links=links[np.cumsum(np.diff(routes.starts) - 1) - 1],
            is_new=np.array([node.is_compute for node in topology.nodes])[firsts],
            stated=np.bincount(of_route, latencies[links], len(routes)).astype(np.float64),
            links=links,
            of_route=of_route,
        )


def _delays(phase: Phase, sends: _Sends, latencies: FloatArray, busy: FloatArray, nodes: int) -> FloatArray:
    """Return (D, W, w) of those nodes of all trees that can be the last; arrays are for each route."""
    outward = phase.op is PhaseOp.BROADCAST
    uppers, lowers = (sends.firsts, sends.lasts) if outward else (sends.lasts, sends.firsts)
    costs = np.stack([latencies, busy])
    count = max(1, _CELLS // (nodes + 1))
    found = [np.zeros((0, 3))]
    for begin in range(0, len(phase), count):
        starts = phase.routes.starts[begin : begin + count + 1]
        rows = Rows(starts - starts[0], phase.routes.entries[starts[0] : starts[-1]])
        found.append(_latest(_delays_of_trees(rows if outward else rows.backwards(), uppers, lowers, costs, nodes)))
    return _latest(np.concatenate(found))


def _delays_of_trees(
    trees: Rows, uppers: npt.NDArray[np.int64], lowers: npt.NDArray[np.int64], costs: FloatArray, nodes: int
) -> FloatArray:
    """Return (D, W, w) for each tree and node; all trees advance together, one position at a time."""
    sizes = np.diff(trees.starts)
    sums = np.zeros((2, len(trees) * (nodes + 1)))
    slowest = np.zeros(len(trees))
    for position in range(int(sizes.max(initial=0))):
        listed = np.flatnonzero(sizes > position)
        route = trees.entries[trees.starts[listed] + position]
        source, target = listed * (nodes + 1) + uppers[route], listed * (nodes + 1) + lowers[route]
        sums[:, target] = sums[:, source] + costs[:, route]
        slowest[listed] = np.maximum(slowest[listed], costs[1, route])
    return np.stack([*sums, np.repeat(slowest, nodes + 1)], axis=1)


def _latest(rows: FloatArray) -> FloatArray:
    """Return the rows that are not dominated: no other row is at least as great in all three columns.

    The greatest row in lexicographic order is not dominated. Without the rows that it dominates, the same holds again.
    """
    kept: list[FloatArray] = []
    while len(rows):
        greatest = rows
        for column in range(rows.shape[1]):
            greatest = greatest[greatest[:, column] == greatest[:, column].max()]
        kept.append(greatest[0])
        rows = rows[(rows > greatest[0]).any(axis=1)]
    return np.array(kept)
