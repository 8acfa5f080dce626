"""The algbw of a schedule from the loads of its links, summed over all phases."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.trees.traffic import carried_by_routes
from forestcoll.schedule.trees.value import Phase
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.orbits import summed_over_images


def achieved_algbw(topology: Topology, routes: Rows, phases: Sequence[Phase], symmetry: Symmetry | None) -> Fraction:
    """Return 1 / (the greatest load of a link / its bandwidth), over all phases and all images of trees."""
    order = 1 if symmetry is None else symmetry.order
    carried, whole = carried_by_routes(routes, phases, order * len(topology.nodes))
    loads = np.zeros(len(topology.links), dtype=carried.dtype)
    np.add.at(loads, _links(topology, routes), np.repeat(carried, np.diff(routes.starts) - 1))
    if symmetry is not None:
        loads = summed_over_images(topology, symmetry, loads)
    times = (int(load) / link.bandwidth for load, link in zip(loads.tolist(), topology.links, strict=True))
    return whole / max(times)


def _links(topology: Topology, routes: Rows) -> IntArray:
    """Return the number of the link of each hop of `routes`; links are sorted by their ends."""
    is_last = np.zeros(len(routes.entries), dtype=np.bool_)
    is_last[routes.starts[1:] - 1] = True
    hops = np.flatnonzero(~is_last)
    size = len(topology.nodes)
    sources, targets = (np.array(ends, dtype=np.int64) for ends in topology.link_ends)
    codes = sources * size + targets
    numbers: IntArray = np.searchsorted(codes, routes.entries[hops].astype(np.int64) * size + routes.entries[hops + 1])
    return numbers
