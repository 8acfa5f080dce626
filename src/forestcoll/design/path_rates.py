"""All-to-all over shortest paths: an upper bound for any routing, and the rate of even splitting.

A rate f from every node to every other node needs a link bandwidth of f * distance for each pair. So f is at most
(number of arcs) / (sum of distances), in units of the bandwidth of one arc. This bound is exact arithmetic. Even
splitting sends along all shortest paths: each node receives equal parts from all in-neighbours that are nearer to the
source. It reaches f = 1 / (load of the busiest arc). The optimum of the multi-commodity flow (A.5) is between the two.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.design.wiring import Wiring


@dataclass(frozen=True)
class PathRates:
    """Rates from every node to every other node at the same time, in units of the bandwidth of one arc.

    Attributes:
        bound: an upper bound for any routing.
        reached: the rate of even splitting over shortest paths.
        rooted_steps: the steps of an allreduce that reduces to the best root and then broadcasts from it (C.3): twice
            the radius if the network is bidirectional.
    """

    bound: Fraction
    reached: float
    rooted_steps: int


def path_rates(wiring: Wiring) -> PathRates:
    """Return the rates of an all-to-all, and the steps of an allreduce by a root, on a strongly connected network."""
    distances = distances_from(wiring)
    bound = Fraction(wiring.nodes * wiring.degree, int(distances.sum(dtype=np.int64)))
    rooted = distances.max(axis=0) + distances.max(axis=1)
    return PathRates(bound, 1 / _greatest_load(wiring, distances), int(rooted.min()))


def distances_from(wiring: Wiring) -> npt.NDArray[np.int16]:
    """Return the distances: row u, column v holds the distance from v to u."""
    nodes = wiring.nodes
    distances = np.full((nodes, nodes), -1, dtype=np.int16)
    reached = np.eye(nodes, dtype=np.bool_)
    distances[reached] = 0
    hops = 0
    while True:
        hops += 1
        near = reached[wiring.entering[:, 0]]
        for port in range(1, wiring.degree):
            near = near | reached[wiring.entering[:, port]]
        fresh = near & ~reached
        if not fresh.any():
            return distances
        distances[fresh] = hops
        reached |= fresh


def _greatest_load(wiring: Wiring, distances: npt.NDArray[np.int16]) -> float:
    """Return the load of the busiest arc if every node sends one unit to every other node."""
    nodes, degree = wiring.nodes, wiring.degree
    brought = np.ones((nodes, nodes))  # row u, column v: data of v that arrives at u, final or to forward
    loads = np.zeros(nodes * degree)
    for hops in range(int(distances.max()), 0, -1):
        targets, sources = np.nonzero(distances == hops)
        nearer = distances[wiring.entering[targets], sources[:, None]] == hops - 1
        part = brought[targets, sources] / nearer.sum(axis=1)
        for port in range(degree):
            fed = nearer[:, port]
            arcs = wiring.entering_arcs[targets[fed], port]
            loads += np.bincount(arcs, weights=part[fed], minlength=nodes * degree)
            np.add.at(brought, (wiring.entering[targets[fed], port], sources[fed]), part[fed])
    return float(loads.max())
