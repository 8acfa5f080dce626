"""What generating, verifying and writing a schedule of trees will take, estimated before the trees are grown.

The estimate counts tree edges, N - 1 per tree. Each edge is a number in the arrays of the core and of the schedule. It
also has a route, which it may share with many other edges or not; this is known only afterwards. So there are a lower
and an upper estimate of the memory. The factors were measured with 1,024 and 4,096 compute nodes and 1.0 to 54.5
million tree edges; `tests/solver/generation/test_memory.py` compares them with a run.
"""

from dataclasses import dataclass

from forestcoll.base.progress import Progress
from forestcoll.base.resources import ResourceEstimate, is_long, require_memory, size_text, time_text
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import levels

_LEAST_PER_EDGE = 4
"""Bytes of a tree edge that shares its route with many other edges: its number in the schedule."""

_MOST_PER_EDGE = 40
"""Bytes of a tree edge that does not share its route, without the nodes of the route."""

_OF_EDGE = ResourceEstimate(80e-9, 12)
"""What it takes to grow a tree edge from base trees, verify it and write it, and the least that its file has of it."""

_MOST_PER_ROUTE_NODE = 12
_MOST_PER_LINK = 4096
_MOST_AT_ALL = 64 * 2**20
"""Bytes that every run may need: temporary arrays, and the modules that it loads."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """The memory that a run needs in addition to that of the process when the optimum is known.

    Attributes:
        least: a run needs more than this number of bytes.
        most: a run usually needs less than this number of bytes; it may need more if trees make long detours.
    """

    least: int
    most: int

    def __str__(self) -> str:
        return f"{size_text(self.least)} to {size_text(self.most)}"


def schedule_memory(topology: Topology, trees: int) -> MemoryNeed:
    """Return the memory needed to generate, verify and write a schedule that lists `trees` trees."""
    edges = trees * (len(topology.compute) - 1)
    most = _MOST_AT_ALL + _MOST_PER_LINK * len(topology.links) + _MOST_PER_EDGE * edges
    if topology.switches:  # without switches, each route is a single link
        most += _MOST_PER_ROUTE_NODE * (3 + 2 * _switch_radius(topology)) * edges
    return MemoryNeed(_LEAST_PER_EDGE * edges, most)


def _switch_radius(topology: Topology) -> int:
    """Return the most links between the first switch of a connected part and another switch of it, over switches only.

    Any two switches of a part are at most twice this number of links apart.
    """
    radius, unseen = 0, set(topology.switches)
    for switch in topology.switches:
        found = list(levels({switch} & unseen, lambda node: unseen.intersection(topology.targets[node])))
        radius = max(radius, len(found) - 1)
        unseen.difference_update(*found)
    return radius


def announce_trees(topology: Topology, trees: int, progress: Progress) -> None:
    """Say before trees are grown what a schedule that lists `trees` trees will take, if that is much.

    Raises:
        InputError: it needs more memory than the limit, or could not be read again.
    """
    edges, need = trees * (len(topology.compute) - 1), schedule_memory(topology, trees)
    work, cost = f"{topology.name}: a schedule of {edges:,} tree edges", _OF_EDGE * edges
    require_memory(work, cost.memory, "ask for base trees (--compact), or use fewer ranks")
    if is_long(ResourceEstimate(cost.seconds, need.most)):
        progress.remark(f"{work} takes {time_text(cost.seconds)} and {need} of memory")
