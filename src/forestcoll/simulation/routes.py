"""The time of a send over each route of a schedule of trees or flows."""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.steps.shape import link_numbers
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray, Loads, hops_of
from forestcoll.topology import Topology


@dataclass(frozen=True)
class RouteTimes:
    """The times of the routes in a table.

    Attributes:
        latencies: for each route, the latency of a send over it, in seconds.
        slowest: for each route, the time that its busiest link is busy for one byte of M, in seconds.
    """

    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(topology: Topology, routes: Rows, loads: Loads, costs: Costs, image: IntArray | None = None) -> "RouteTimes":
        """Return the times of `routes` or, if `image` is given, of their images. A send starts on a compute node."""
        sources, targets, of_route = hops_of(routes)
        moved = np.arange(len(topology.nodes)) if image is None else image
        links = link_numbers(topology, moved[sources], moved[targets])
        slowest = np.zeros(len(routes))
        np.maximum.at(slowest, of_route, loads.seconds[links])
        stated = np.array([float(link.latency_us or 0) for link in topology.links])
        latencies = np.bincount(of_route, stated[links], len(routes))
        sends = np.array([node.is_compute for node in topology.nodes])[routes.entries[routes.starts[:-1]]]
        latencies += np.where(sends, costs.alpha_us + costs.overhead_us, 0.0)
        return RouteTimes(np.asarray(latencies * 1e-6, dtype=np.float64), slowest)
