"""How long the search for the bottleneck cut may take on networks whose nodes are far apart.

Each compute node is asked whether it can receive all data. If the data come from nodes at all distances up to d, one
answer takes d phases of a maximum flow, and each phase visits nodes up to the distance of that phase. So the search
takes time in proportion to n d^2 at most, with n compute nodes. Rings reach this; meshes and tori take much less.
"""

from forestcoll.progress import Progress
from forestcoll.topology import Topology

LONG = 60.0
"""A duration is announced from so many seconds on."""

_SECONDS = 9e-9
"""The time for one node and one phase, measured on rings of 400 to 1,200 nodes."""

_FEWEST = 1000
"""With fewer compute nodes, no search takes long."""


def long_search(topology: Topology) -> str | None:
    """Return a sentence about the search for the bottleneck cut if it may take `LONG`, else None.

    Example:
        >>> from forestcoll import build_topology
        >>> long_search(build_topology("ring:nodes=4000"))
        'ring:nodes=4000 has 4,000 compute nodes up to 2,000 links apart: the bottleneck cut may take 144 s to find'
        >>> long_search(build_topology("torus:dims=64x64"))
    """
    if len(topology.compute) < _FEWEST:
        return None
    distance = _greatest_distance(topology)
    seconds = _SECONDS * len(topology.compute) * distance**2
    if seconds < LONG:
        return None
    time = f"{seconds:,.0f} s" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"
    nodes = f"{len(topology.compute):,} compute nodes up to {distance:,} links apart"
    return f"{topology.name} has {nodes}: the bottleneck cut may take {time} to find"


def announce(topology: Topology, progress: Progress) -> None:
    """Report a search that may take long, before it begins."""
    if (text := long_search(topology)) is not None:
        progress.remark(text)


def _greatest_distance(topology: Topology) -> int:
    """Return how many links the farthest node is away from the first compute node."""
    reached, frontier, distance = {topology.compute[0]}, {topology.compute[0]}, -1
    while frontier:
        distance += 1
        frontier = set().union(*map(topology.targets.__getitem__, frontier)) - reached
        reached |= frontier
    return distance
