"""The least lengths of walks between all nodes of a network, and walks that have them (Floyd and Warshall).

Cost: one pass over a matrix of all pairs of nodes for each node.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InternalError
from forestcoll.topology.model import Topology

Lengths: TypeAlias = npt.NDArray[Any]
"""Floats, 64-bit integers, or Python integers of any size."""


class Metric:
    """The least lengths of walks for given lengths of links.

    Args:
        topology: the network.
        lengths: the length of each link, in the order of the links: 0 or more, or above 0 for `walk`.
        far: the distance of two nodes without a walk between them; more than the length of any walk.
        backwards: whether walks follow links from their target to their source.

    Attributes:
        distances: for each pair of nodes, the least length of a walk from the first to the second.
    """

    def __init__(self, topology: Topology, lengths: Lengths, far: float, *, backwards: bool = False) -> None:
        nodes = len(topology.nodes)
        ends = np.array([(link.source, link.target) for link in topology.links], dtype=np.int64).reshape(-1, 2)
        tails, heads = (ends[:, 1], ends[:, 0]) if backwards else (ends[:, 0], ends[:, 1])
        self.distances: Lengths = np.full((nodes, nodes), far, dtype=lengths.dtype)
        self._before = np.full((nodes, nodes), -1, dtype=np.int32)
        self.distances[tails, heads] = lengths
        self._before[tails, heads] = tails
        np.fill_diagonal(self.distances, 0)
        for middle in range(nodes):
            through = self.distances[:, middle, None] + self.distances[middle]
            shorter = through < self.distances
            np.copyto(self.distances, through, where=shorter)
            np.copyto(self._before, self._before[middle], where=shorter)

    def walk(self, start: int, end: int) -> list[int]:
        """Return the nodes of a walk with the least length, from `start` to `end`. There must be one."""
        found = [end]
        while found[-1] != start:
            before = int(self._before[start, found[-1]])
            if before < 0 or len(found) > len(self._before):
                raise InternalError(f"no walk leads from node {start} to node {end}")
            found.append(before)
        return found[::-1]


def merged(distances: Lengths, nodes: Sequence[int]) -> Lengths:
    """Return distances in which the first of some nodes stands for all of them."""
    first, listed = nodes[0], list(nodes)
    found = distances.copy()
    found[first] = distances[listed].min(axis=0)
    found[:, first] = distances[:, listed].min(axis=1)
    return found
