"""The time of a send over each route of a schedule of flows."""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.loads import hops_of, link_numbers
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Rates, Wires
from forestcoll.topology import Topology


@dataclass(frozen=True)
class RouteTimes:
    """The times of the routes in a table.

    Attributes:
        latencies: for each route, the latency of a send over it, in seconds.
        slowest: for each route, the time that its busiest link, or the rank at one of its ends, is busy for one byte of
            M, in seconds.
    """

    latencies: FloatArray
    slowest: FloatArray

    @staticmethod
    def of(topology: Topology, routes: Rows, parts: FloatArray, costs: Costs, image: IntArray) -> "RouteTimes":
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
        return RouteTimes(np.asarray(latencies * 1e-6, dtype=np.float64), slowest)
