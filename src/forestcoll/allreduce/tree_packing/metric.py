"""The least prices of walks between all nodes of a network, and walks that reach them (Floyd and Warshall).

Cost: one pass over a matrix of all pairs of nodes for each node.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InternalError
from forestcoll.topology import Topology

Floats = npt.NDArray[np.float64]


class Metric:
    """The least prices of walks under a price of each link.

    Args:
        topology: the network.
        prices: the price of each link, above 0.
        backwards: whether walks follow links from their target to their source.

    Attributes:
        distances: for each pair of nodes, the least price of a walk from the first to the second; infinite if none.
    """

    def __init__(self, topology: Topology, prices: Sequence[float] | Floats, *, backwards: bool = False) -> None:
        nodes = len(topology.nodes)
        ends = np.array([(link.source, link.target) for link in topology.links])
        tails, heads = (ends[:, 1], ends[:, 0]) if backwards else (ends[:, 0], ends[:, 1])
        self.distances: Floats = np.full((nodes, nodes), np.inf)
        self._before = np.full((nodes, nodes), -1, dtype=np.int32)
        self.distances[tails, heads] = prices
        self._before[tails, heads] = tails
        np.fill_diagonal(self.distances, 0.0)
        for middle in range(nodes):
            through = self.distances[:, middle, None] + self.distances[middle]
            shorter = through < self.distances
            np.copyto(self.distances, through, where=shorter)
            np.copyto(self._before, self._before[middle], where=shorter)

    def walk(self, start: int, end: int) -> list[int]:
        """Return the nodes of a walk with the least price, from `start` to `end`. There must be one."""
        found = [end]
        while found[-1] != start:
            before = int(self._before[start, found[-1]])
            if before < 0 or len(found) > len(self._before):
                raise InternalError(f"no walk leads from node {start} to node {end}")
            found.append(before)
        return found[::-1]
