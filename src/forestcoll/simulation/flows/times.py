"""The time of flows, as a closed form.

The flows on a link share it in proportion to the data that they send over it. So one of p pieces of a flow crosses a
link in the time w·M/p, where w is the time that the link is busy for one byte of M. A send over a route takes as long
as the slowest of its links, plus alpha and the overhead of a chunk; a relay sends a piece after it has received it. Let
D be the sum of the latencies of the routes of a flow, W the sum of the w of their slowest links, and w the greatest w.
Then

    T(p) = D + W·M/p + (p - 1)·(overhead + w·M/p),

and the time of the schedule is the maximum over all flows. If a flow has one route, one piece is best. As M grows, T/M
falls to the greatest w of all links, which is 1/algbw of the schedule. With `rank_gbps`, w is also the time that the
channels of one of the two ranks of a send need; the incast is not part of this model.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads import hops_of, link_numbers
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Rates, Wires, differs_by_image
from forestcoll.topology import Symmetry, Topology


@dataclass(frozen=True)
class FlowModel:
    """The times of a schedule of flows.

    Attributes:
        schedule: the schedule.
        costs: the latency and the overhead.
        delays: one row (D, W, w) for each sort of flow.
        greatest_share: the greatest share of a flow.
    """

    schedule: FlowSchedule
    costs: Costs
    delays: FloatArray
    greatest_share: float

    @staticmethod
    def of(schedule: FlowSchedule, costs: Costs | None = None, others: FloatArray | None = None) -> "FlowModel":
        """Return the model of `schedule`, which `verify` accepts.

        Args:
            schedule: the schedule.
            costs: the costs; the defaults if None.
            others: the data that other schedules send over each link at the same time, in multiples of M; None if there
                are none.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        costs = costs or Costs()
        topology, listed = schedule.topology, schedule.flows.routes
        parts, symmetry = link_loads(schedule).parts, schedule.symmetry
        parts = parts if others is None else parts + others
        if symmetry is None or (others is None and not differs_by_image(topology, costs)):
            symmetry = Symmetry(())
        of_flow = np.repeat(np.arange(len(listed)), np.diff(listed.starts))
        rows = [np.zeros((0, 3))]
        for element in symmetry.elements(len(topology.nodes)):
            routes = _RouteTimes.of(topology, schedule.routes, parts, costs, element)
            latency = np.bincount(of_flow, routes.latencies[listed.entries], len(listed))
            busy = np.bincount(of_flow, routes.slowest[listed.entries], len(listed))
            slowest = np.zeros(len(listed))
            np.maximum.at(slowest, of_flow, routes.slowest[listed.entries])
            rows.append(np.unique(np.stack([latency, busy, slowest], axis=1), axis=0))
        share = float(max(set(schedule.flows.shares)))
        return FlowModel(schedule, costs, np.unique(np.concatenate(rows), axis=0), share)

    def seconds(self, size: int, pieces: int) -> float:
        """Return T(p) in seconds for M of `size` bytes and p = `pieces`."""
        latency, busy, slowest = self.delays.T
        piece, overhead = size / pieces, self.costs.overhead_us * 1e-6
        launch = self.costs.launch_us * 1e-6
        return launch + float((latency + busy * piece + (pieces - 1) * (overhead + slowest * piece)).max())

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes in the best number of pieces; T is convex in it."""
        low, high = 1, max(1, int(size * self.greatest_share))
        while low < high:
            middle = (low + high) // 2
            if self.seconds(size, middle) <= self.seconds(size, middle + 1):
                high = middle
            else:
                low = middle + 1
        return point_at(self.schedule, size=size, seconds=self.seconds(size, low), pieces=low, part=self.greatest_share)


@dataclass(frozen=True)
class _RouteTimes:
    """The times of the routes in a table.

    Attributes:
        latencies: for each route, the latency of a send over it, in seconds.
        slowest: for each route, the time that its busiest link, or the rank at one of its ends, is busy for one byte of
            M, in seconds.
    """

    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(topology: Topology, routes: Rows, parts: FloatArray, costs: Costs, image: IntArray) -> "_RouteTimes":
        """Return the times of the images of `routes`, if links carry these parts of M. A compute node starts a send."""
        wires = Wires.of(topology)
        rates, ranks = Rates.of(wires, costs), wires.rank_loads(parts)
        sources, targets, of_route = hops_of(routes)
        links = link_numbers(topology, image[sources], image[targets])
        firsts, lasts = image[routes.entries[routes.starts[:-1]]], image[routes.entries[routes.starts[1:] - 1]]
        slowest = rates.rank * np.maximum(ranks.sent[firsts], ranks.received[lasts])
        np.maximum.at(slowest, of_route, parts[links] * rates.links[links])
        stated = np.array([float(link.latency_us or 0) for link in topology.links])
        latencies = np.bincount(of_route, stated[links], len(routes))
        sends = np.array([node.is_compute for node in topology.nodes])[routes.entries[routes.starts[:-1]]]
        latencies += np.where(sends, costs.alpha_us + costs.overhead_us, 0.0)
        return _RouteTimes(np.asarray(latencies * 1e-6, dtype=np.float64), slowest)
