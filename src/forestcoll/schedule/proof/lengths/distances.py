"""Distances between nodes for given lengths of links: exact integers, from many sources at the same time.

Every round, each node takes the least of its distance and of the distances over its entering links (R. Bellman, 1958).
The rounds end when nothing changes, after as many rounds as a shortest path has links. One round is a few operations on
arrays with a row for each source. If there are many rounds, because paths are long, it is faster to compute the
distances of one source after the other.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import cheapest, onwards

Distances: TypeAlias = npt.NDArray[Any]
"""One row for each source, one column for each node: 64-bit integers, or Python integers if lengths are large."""

_BLOCK_CELLS = 2**22
"""The most cells of sources times links that are computed at a time."""

_MOST_WORK = 2**28
"""The most cells that a block computes in all its rounds; then each source is computed alone."""

_LONGEST = 2**52
"""The greatest sum of all lengths for which 64-bit integers are used; sums over thousands of nodes still fit."""


def distances(topology: Topology, lengths: Sequence[int], sources: Sequence[int]) -> Iterator[Distances]:
    """Yield the distances from `sources` to all nodes, in blocks of sources; -1 if a node is not reached.

    Args:
        topology: the network.
        lengths: the length of each link, 0 or more.
        sources: the numbers of the nodes to begin at.
    """
    order = sorted(range(len(topology.links)), key=lambda place: topology.links[place].target)
    tails = np.array([topology.links[place].source for place in order], dtype=np.int64)
    heads = np.array([topology.links[place].target for place in order], dtype=np.int64)
    dtype = np.int64 if sum(lengths) < _LONGEST else np.object_
    length_of = np.array([lengths[place] for place in order], dtype=dtype)
    entered, starts = np.unique(heads, return_index=True)
    size = max(1, _BLOCK_CELLS // max(1, len(order)))
    for first in range(0, len(sources), size):
        block = sources[first : first + size]
        far: Distances = np.full((len(block), len(topology.nodes)), sum(lengths) + 1, dtype=dtype)
        far[np.arange(len(block)), list(block)] = 0
        for _ in range(max(1, _MOST_WORK // max(1, len(block) * len(order)))) if order else ():
            through = np.minimum.reduceat(far[:, tails] + length_of, starts, axis=1)
            nearer = np.minimum(far[:, entered], through)
            if not (nearer < far[:, entered]).any():
                break
            far[:, entered] = nearer
        else:
            _compute_one_by_one(topology, lengths, block, far)
        far[far > sum(lengths)] = -1
        yield far


def _compute_one_by_one(topology: Topology, lengths: Sequence[int], sources: Sequence[int], far: Distances) -> None:
    """Write the distances from each source into its row of `far` (E. W. Dijkstra, 1959)."""
    for row, source in enumerate(sources):
        distance = cheapest({source: 0}, onwards(topology, lengths))
        far[row, list(distance)] = list(distance.values())
