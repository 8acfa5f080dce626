"""Base trees: schedules of symmetric networks from the trees of a few roots, one for each orbit of the symmetry.

The images of the base trees under all elements of the group are the trees of all roots. The group maps links to links
of equal bandwidth, so all links of an orbit carry the same load. If the base trees use an orbit of n links at most n/g
times the capacity of one link, where g is the number of elements, all trees are within all capacities. For 16,384 GPUs,
a few trees are then grown, verified and written instead of 16,384.

In a network with a few faults, the group leaves nodes in place, such as those of a box with a failed link, and shifts
the other boxes. A root that stays in place is the root of all g images of its base trees. So these trees have a share
that is smaller by the factor g: the mean of all images of a solution is a solution, too. A link that stays in place
carries all g images of each base tree that uses it. `native/generation/orbits.h` counts both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import gcd

import numpy as np

from forestcoll.base.progress import Progress
from forestcoll.kernels import RoutedTrees
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.growing import Forest
from forestcoll.solver.generation.memory import announce_trees
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.automorphisms.graph import ArcTable, graph_of
from forestcoll.topology.symmetry.orbits import least_on_cycle, link_orbits

_FEW_ORBITS = 64
"""If a group that moves every root leaves more orbits of roots, a group that leaves some roots in place is tried first.
"""


@dataclass(frozen=True)
class BaseTrees:
    """Base trees of each forest of an optimum.

    Attributes:
        routed: the base trees of each forest.
        symmetry: the group under which their images are all trees.
        parts: a tree of a plan is divided into this number of parts, and multiplicities count parts. It is 1 if the
            group moves every root.
    """

    routed: tuple[RoutedTrees, ...]
    symmetry: Symmetry
    parts: int


def grow_base_trees(
    best: TreeOptimum, forests: Sequence[Forest], progress: Progress, *, most_edges: int, moves_all: bool
) -> BaseTrees | None:
    """Return base trees of each of `forests` for `best`.

    Return None if the base trees could not be grown, or if they have more than `most_edges` edges. The group is one
    that `find_symmetry` finds or, if base trees could not be completed with it, a smaller one. If not `moves_all`,
    groups that leave roots in place are tried, too, and what many base trees take is reported to `progress` before they
    are grown. A symmetry of a network is also a symmetry of its transpose.
    """
    progress.begin("looking for a symmetry")
    for group in chain.from_iterable(map(_smaller_groups, _symmetries(best, forests, moves_all=moves_all))):
        sizes = _root_orbit_sizes(forests[0].plan, group)
        if len(sizes) * (len(best.members) - 1) > most_edges:
            continue
        if not moves_all:
            announce_trees(best.network, len(sizes), progress)
        progress.begin("growing trees")
        unit = gcd(*sizes)
        divided = [forest.divided(group.order // unit, progress) for forest in forests]
        grown = [_grown(forest, group, unit, progress) for forest in divided]
        if all(routed is not None for routed in grown):
            return BaseTrees(tuple(routed for routed in grown if routed is not None), group, group.order // unit)
    return None


def _symmetries(best: TreeOptimum, forests: Sequence[Forest], *, moves_all: bool) -> Iterator[Symmetry]:
    """Yield the groups that are tried, before smaller ones."""
    parts = [forest.plan.topology for forest in forests]
    free = _symmetry(best, parts, moves_all=True)
    has_few_orbits = len(best.members) <= _FEW_ORBITS * free.order
    if moves_all or has_few_orbits:
        yield free
    if not moves_all:
        yield _symmetry(best, parts, moves_all=False)
        if not has_few_orbits:
            yield free


def _smaller_groups(symmetry: Symmetry) -> Iterator[Symmetry]:
    """Yield the whole group, then each without the shift of the least order of the last."""
    kept = sorted(symmetry.shifts, key=lambda shift: -shift.order)
    while kept:
        yield Symmetry(tuple(kept))
        kept.pop()


def _symmetry(best: TreeOptimum, parts: Sequence[Topology], *, moves_all: bool) -> Symmetry:
    """Return the symmetries of the first of `parts` that are also symmetries of the other networks and of the ranks."""
    takes_part = np.isin(np.arange(len(best.topology.nodes)), best.members)
    others = [network for network in (best.topology, *parts[1:]) if network is not parts[0]]
    tables = [ArcTable(graph_of(network)) for network in others]
    return Symmetry(
        tuple(
            shift
            for shift in find_symmetry(parts[0], moves_all=moves_all).shifts
            if np.array_equal(takes_part, takes_part[shift.image])
            and all(table.is_symmetry(shift.image.astype(np.int64)) for table in tables)
        )
    )


def _grown(forest: Forest, group: Symmetry, unit: int, progress: Progress) -> RoutedTrees | None:
    routed, counters = forest.core.grow_base_trees(
        forest.problem,
        forest.plan.trees_per_root,
        [shift.image.tolist() for shift in group.shifts],
        link_orbits(forest.plan.topology, group).tolist(),
        unit,
        progress.advance,
    )
    progress.note({**counters, "group_order": group.order})
    return None if counters["missing"] else RoutedTrees(*routed)


def _root_orbit_sizes(plan: ForestPlan, group: Symmetry) -> list[int]:
    """Return the number of nodes in each orbit of roots."""
    first = np.arange(len(plan.topology.nodes))
    for shift in group.shifts:
        first = least_on_cycle(first, shift.image.astype(np.int64), shift.order)
    roots = [node for node, weight in zip(plan.topology.compute, plan.weights, strict=True) if weight]
    sizes: list[int] = np.unique(first[roots], return_counts=True)[1].tolist()
    return sizes
