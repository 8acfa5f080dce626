"""Base trees: schedules of symmetric networks from the trees of a few roots, one for each orbit of the symmetry.

The images of the base trees under all elements of the group are the trees of all roots. The group maps links to links
of equal bandwidth, so all links of an orbit carry the same load. If the base trees use an orbit of n links at most n/g
times the capacity of one link, where g is the number of elements, all trees are within all capacities. For 16,384 GPUs,
a few trees are then grown, verified and written instead of 16,384.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.core import RoutedTrees
from forestcoll.forest_optimum.value import Optimum
from forestcoll.generation.growing import Forest
from forestcoll.progress import Progress
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.automorphisms import find_symmetry
from forestcoll.topology.automorphisms.graph import ArcTable, graph_of


def grow_base_trees(
    best: Optimum, forests: Sequence[Forest], progress: Progress
) -> tuple[tuple[RoutedTrees, ...], Symmetry] | None:
    """Return base trees of each of `forests` for `best`, and the group under which their images are all trees.

    Return None if the base trees could not be grown. The group is the one that `find_symmetry` finds or, if base trees
    could not be completed with it, a smaller one. A symmetry of a network is also a symmetry of its transpose.
    """
    progress.begin("looking for a symmetry")
    parts = [forest.plan.topology for forest in forests]
    for group in _groups(_symmetry(best, parts)):
        progress.begin("growing trees")
        grown = [_grown(forest, group, progress) for forest in forests]
        if all(routed is not None for routed in grown):
            return tuple(routed for routed in grown if routed is not None), group
    return None


def _symmetry(best: Optimum, parts: Sequence[Topology]) -> Symmetry:
    """Return the symmetries of the first of `parts` that are also symmetries of the other networks and of the ranks."""
    takes_part = np.isin(np.arange(len(best.topology.nodes)), best.members)
    others = [network for network in (best.topology, *parts[1:]) if network is not parts[0]]
    tables = [ArcTable(graph_of(network)) for network in others]
    return Symmetry(
        tuple(
            shift
            for shift in find_symmetry(parts[0]).shifts
            if np.array_equal(takes_part, takes_part[shift.image])
            and all(table.is_symmetry(shift.image.astype(np.int64)) for table in tables)
        )
    )


def _grown(forest: Forest, group: Symmetry, progress: Progress) -> RoutedTrees | None:
    routed, counters = forest.core.grow_base_trees(
        forest.problem,
        forest.plan.trees_per_root,
        [shift.image.tolist() for shift in group.shifts],
        link_orbits(forest.plan.topology, group).tolist(),
        group.order,
        progress.advance,
    )
    progress.note({**counters, "group_order": group.order})
    return None if counters["missing"] else RoutedTrees(*routed)


def _groups(symmetry: Symmetry) -> Iterator[Symmetry]:
    """Yield the groups that are tried: the whole group, then each without the shift of the least order of the last."""
    kept = sorted(symmetry.shifts, key=lambda shift: -shift.order)
    while kept:
        yield Symmetry(tuple(kept))
        kept.pop()


def link_orbits(topology: Topology, symmetry: Symmetry) -> npt.NDArray[np.int64]:
    """Return, for each link, the number of the first link of its orbit."""
    sources, targets = (np.array(ends, dtype=np.int64) for ends in zip(*_link_ends(topology), strict=True))
    codes = sources * len(topology.nodes) + targets  # rising, as links are sorted
    first = np.arange(len(codes))
    for shift in symmetry.shifts:
        image = shift.image.astype(np.int64)
        links = np.searchsorted(codes, image[sources] * len(topology.nodes) + image[targets])
        first = _least_on_cycle(first, links, shift.order)
    return first


def _link_ends(topology: Topology) -> Iterator[tuple[int, int]]:
    return ((link.source, link.target) for link in topology.links)


def _least_on_cycle(values: npt.NDArray[np.int64], image: npt.NDArray[np.int64], order: int) -> npt.NDArray[np.int64]:
    """Return, for each link, the least of `values` on its cycle under `image`, which has `order` steps."""
    reach = 1
    while reach < order:  # each of `values` is the least over `reach` steps; `image` advances by `reach` steps
        values = np.minimum(values, values[image])
        image = image[image]
        reach *= 2
    return values
