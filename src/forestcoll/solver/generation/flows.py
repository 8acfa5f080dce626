"""Schedules of flows: the paths of an optimum as flows over routes.

A path is divided into routes at every compute node on it, which relays the data. If the optimum has a symmetry, its
paths are those of one source of each orbit. The schedule lists the images of these paths, or keeps the symmetry and
lists the paths as base flows.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.resources import ResourceEstimate, announce
from forestcoll.schedule.flows.value import FlowList, FlowSchedule
from forestcoll.schedule.rows import Rows
from forestcoll.solver.flows.value import FlowOptimum
from forestcoll.topology import Topology
from forestcoll.topology.graph.part import usable_part

MOST_LISTED = 50_000
"""The most flows that a schedule lists if it can list base flows and a symmetry; a file of so many has 4 MB."""

_SECONDS_PER_FLOW, _BYTES_PER_FLOW = 2e-6, 2500
"""What it takes to verify a flow, or its image, and to list one."""

_NodePath = tuple[int, ...]


def flows_for(best: FlowOptimum, *, compact: bool | None = None, progress: Progress = SILENT) -> FlowSchedule:
    """Return a schedule that reaches `best.algbw`.

    Args:
        best: the optimum, as `optimum` returns it.
        compact: whether the schedule lists base flows and a symmetry of the network, if there is one. If None, it does
            so if there are more than `MOST_LISTED` flows.
        progress: receives the stages of the work.

    Raises:
        InputError: the optimum has no paths, because its linear program is too large.
    """
    if not best.paths:
        raise InputError(
            f"{best.topology.name}: the linear program of its {best.collective} is too large, so only a rate and a "
            "bound are known, and no schedule; use a network with more symmetry, or fewer ranks"
        )
    progress.begin("making flows")
    flows = len(best.paths) * best.symmetry.order
    if compact is None:
        compact = flows > MOST_LISTED
    keeps = compact and best.symmetry.order > 1 and usable_part(best.topology, best.members) is best.topology
    memory = _BYTES_PER_FLOW * (len(best.paths) if keeps else flows)
    announce(
        f"{best.topology.name}: a schedule of {flows:,} flows",
        ResourceEstimate(_SECONDS_PER_FLOW * flows, memory),
        progress,
    )
    paths = ((path.nodes, path.share) for path in best.paths) if keeps else all_paths(best)
    routes, listed = flow_table(best.topology, sorted(paths, key=_by_ends))
    return FlowSchedule(
        best.topology,
        best.collective,
        routes,
        listed,
        algbw=best.algbw,
        bound=best.bound,
        ranks=best.ranks,
        matrix=best.demand.matrix,
        symmetry=best.symmetry if keeps else None,
    )


def _by_ends(path: tuple[_NodePath, Fraction]) -> tuple[int, int, _NodePath]:
    return path[0][0], path[0][-1], path[0]


def all_paths(best: FlowOptimum) -> Iterator[tuple[_NodePath, Fraction]]:
    """Yield the images of all paths under the symmetry, with their shares."""
    for element in best.symmetry.elements(len(best.topology.nodes)):
        image = element.tolist()
        for path in best.paths:
            yield tuple(image[node] for node in path.nodes), path.share


def flow_table(topology: Topology, paths: Iterable[tuple[_NodePath, Fraction]]) -> tuple[Rows, FlowList]:
    """Return the table of routes, and the flows along paths of links, each with its share."""
    numbers: dict[_NodePath, int] = {}
    ends: list[tuple[int, int]] = []
    shares: list[Fraction] = []
    listed: list[list[int]] = []
    for nodes, share in paths:
        ends.append((nodes[0], nodes[-1]))
        shares.append(share)
        listed.append([numbers.setdefault(route, len(numbers)) for route in _routes(topology, nodes)])
    sources, targets = np.array(ends, dtype=np.int32).T
    return Rows.of(list(numbers)), FlowList(sources.copy(), targets.copy(), tuple(shares), Rows.of(listed))


def _routes(topology: Topology, nodes: _NodePath) -> Iterator[_NodePath]:
    """Yield the parts of a path between compute nodes."""
    begin = 0
    for place in range(1, len(nodes)):
        if topology.nodes[nodes[place]].is_compute:
            yield nodes[begin : place + 1]
            begin = place
