"""Schedules of spanning trees that reach the optimum (ForestColl §5).

The optimum scales the network so that capacities count trees. First, a fast method grows trees directly on the network
with its switches. It may fail, but a complete set of trees within the capacities needs no further proof. Trees that it
cannot complete are found by the method of the paper, which is proven to succeed: edge splitting replaces switches by
logical links between compute nodes, spanning trees are packed into the logical links, and each tree edge is routed over
the links that its capacity came from. Every step is exact; `docs/method.md` explains them.

Trees that reduce are found on the transposed network and reversed (§5.7). In the end, redundant sends are replaced by
copies or sums on switches that can make them (`in_network`).
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.kernels import RoutedTrees
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.rows import Rows, row_starts
from forestcoll.schedule.trees.expansion import distinct_rows, expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.growing import Forest, TreeSearch
from forestcoll.solver.generation.in_network import joined_at_switches
from forestcoll.solver.generation.logical import with_logical_links
from forestcoll.solver.generation.memory import announce_trees, schedule_memory
from forestcoll.solver.generation.packed import packed_phases
from forestcoll.solver.generation.relays import divided_at
from forestcoll.solver.generation.symmetric import grow_base_trees
from forestcoll.topology import Symmetry, Topology

MOST_LISTED_EDGES = 2**27
"""The most tree edges of a schedule that lists all trees, if there is a symmetry, and the most edges of base trees.

A longer file could not be read.
"""

_WORTH_A_SYMMETRY = 2**19
"""The number of tree edges from which a search for a symmetry saves time, even if all trees are listed in the end."""


def schedule_for(
    best: TreeOptimum, *, search: TreeSearch = TreeSearch.AUTO, compact: bool = False, progress: Progress = SILENT
) -> TreeSchedule:
    """Return the schedule of an optimum: `best.schedule` if it fits the arguments, or a new one.

    `best.schedule` was made by the search `auto`. Another search, or base trees, may load links differently. The algbw
    of the new schedule is then its own, and `progress` receives a remark on the difference.

    Raises:
        InputError: see `grown_schedule`.
        NoSolutionError: see `grown_schedule`.
    """
    if best.schedule is not None and search is TreeSearch.AUTO and not compact:
        return best.schedule
    schedule = grown_schedule(best, search=search, compact=compact, progress=progress)
    if schedule.algbw != best.algbw:
        unit = best.topology.bandwidth_unit
        progress.remark(
            f"{best.topology.name}: these trees reach {schedule.algbw} {unit}; the trees of the search auto reach "
            f"{best.algbw} {unit}"
        )
    return schedule


def grown_schedule(
    best: TreeOptimum, *, search: TreeSearch = TreeSearch.AUTO, compact: bool = False, progress: Progress = SILENT
) -> TreeSchedule:
    """Return a new schedule with `best.trees_per_root` trees per root that reaches `best.algbw`.

    The algbw of the schedule is computed from the loads of its links. It can be greater than `best.algbw` if that is
    only a lower limit: the two forests of an allreduce may need different links, and copies on switches and relays
    save traffic.

    Args:
        best: the optimum, as `optimum` returns it.
        search: how trees are found.
        compact: whether the schedule lists base trees and a symmetry of the network, if there is a symmetry. Roots that
            the symmetry leaves in place then have more trees, with smaller shares. A schedule that would be too large
            for a file is always compact if possible. For large symmetric networks, all trees are
            computed from base trees.
        progress: receives the stages of the work.

    Returns:
        The schedule.

    Raises:
        InputError: the search cannot be compact, or the schedule cannot fit into the memory.
        NoSolutionError: `search` is `fast`, and it did not complete all trees.

    Example:
        >>> from forestcoll import optimum
        >>> schedule = grown_schedule(optimum("dgx-a100:boxes=2"))
        >>> str(schedule.algbw), schedule.trees_per_root
        ('1040/3', 13)
    """
    if best.logical is not None:
        return with_logical_links(best, best.logical, lambda each: _schedule_of(each, search, compact, progress))
    return _schedule_of(best, search, compact, progress)


def _schedule_of(best: TreeOptimum, search: TreeSearch, compact: bool, progress: Progress) -> TreeSchedule:  # noqa: FBT001
    if best.packing is not None:
        return _tree_schedule(best, *packed_phases(best.packing), best.algbw, None)
    if compact and search is TreeSearch.PROVEN:
        raise InputError("the search 'proven' has no base trees; leave compact out or use the search 'auto'")
    outward = [plan.outwards() for plan in best.forests]
    forests = [Forest.of(each, progress) for each in (outward[-1:] if _are_alike(outward) else outward)]
    trees = sum(weight > 0 for plan in best.forests for weight in plan.weights)
    edges = trees * (len(best.members) - 1)
    listed = not compact and edges <= MOST_LISTED_EDGES
    if listed:
        announce_trees(best.network, trees, progress)
    if search is not TreeSearch.PROVEN and (not listed or edges >= _WORTH_A_SYMMETRY) and set(best.weights) == {1}:
        base = grow_base_trees(best, forests, progress, most_edges=MOST_LISTED_EDGES, moves_all=listed)
        if base is not None:
            schedule = _schedule(best, base.routed, base.symmetry, base.parts)
            if listed:
                return expanded(schedule)
            if not compact:
                progress.remark(f"{best.topology.name}: a list of all trees is too long; base trees stand for them")
            return schedule
    if not listed:
        if edges > MOST_LISTED_EDGES:
            raise _too_long(best, trees, edges)
        announce_trees(best.network, trees, progress)
    return _schedule(best, [forest.found(search, progress) for forest in forests])


def _are_alike(outward: Sequence[ForestPlan]) -> bool:
    """Return whether all forests have the same trees: for an allreduce, whether the network is its own transpose."""
    inputs = [
        (_ends(each.topology), each.topology.compute, each.tree_capacities(), each.weights, each.trees_per_root)
        for each in outward
    ]
    return all(each == inputs[-1] for each in inputs)


def _ends(topology: Topology) -> list[tuple[int, int]]:
    return [(link.source, link.target) for link in topology.links]


def _too_long(best: TreeOptimum, trees: int, edges: int) -> InputError:
    return InputError(
        f"{best.topology.name}: the network has too little symmetry for base trees, and its {trees:,} trees have "
        f"{edges:,} tree edges, more than the {MOST_LISTED_EDGES:,} that a file can hold (they would take minutes and "
        f"{schedule_memory(best.network, trees)} of memory); use fewer ranks, a smaller network, or "
        "'forestcoll optimum' for the algbw alone"
    )


def _schedule(
    best: TreeOptimum, routed: Sequence[RoutedTrees], symmetry: Symmetry | None = None, parts_of_tree: int = 1
) -> TreeSchedule:
    """Return the schedule with the trees `routed`, whose multiplicities count parts of the trees of the plans."""
    idle = set(best.topology.compute).difference(best.members)
    parts = []
    for place, plan in enumerate(best.forests):
        trees = _part(plan, routed[min(place, len(routed) - 1)], plan.trees * parts_of_tree)
        parts.append(divided_at(idle, len(best.topology.nodes), *joined_at_switches(best.network, *trees)))
    routes, phases = parts[0][0], tuple(part[1] for part in parts)
    if len(parts) > 1:
        routes, phases = _joined(parts)
    algbw = best.algbw
    if not _is_exact(best):
        algbw = loads_along_routes(best.topology, routes, phases, symmetry).algbw(best.topology)
    schedule = _tree_schedule(best, routes, phases, algbw, symmetry)
    undivided = gcd(parts_of_tree, *(each for trees in routed for each in trees.multiplicities))
    return replace(schedule, trees_per_root=best.trees_per_root * parts_of_tree // undivided)


def _tree_schedule(
    best: TreeOptimum, routes: Rows, phases: tuple[Phase, ...], algbw: Fraction, symmetry: Symmetry | None
) -> TreeSchedule:
    return TreeSchedule(
        topology=best.topology,
        collective=best.collective,
        routes=routes,
        phases=phases,
        algbw=algbw,
        bound=best.bound,
        trees_per_root=best.trees_per_root,
        symmetry=symmetry,
        shards=best.shards,
        ranks=best.ranks,
    )


def _is_exact(best: TreeOptimum) -> bool:
    """Return whether trees reach exactly the algbw of their plan, not more (Theorem 12)."""
    is_whole = len(best.forests) == 1 and best.forests[0].topology == best.topology
    return is_whole and best.topology.has_balanced_switches and not best.topology.able_switches


def _part(plan: ForestPlan, routed: RoutedTrees, whole: int) -> tuple[Rows, Phase]:
    """Return the routes and the phase of the out-trees `routed`, reversed if data is reduced.

    A tree of multiplicity m carries m/`whole` of the data.
    """
    nodes = len(plan.topology.compute)
    routes, numbers = _used_routes(Rows(routed.path_starts, routed.path_nodes), routed.paths)
    shares = {multiplicity: Fraction(multiplicity, whole) for multiplicity in set(routed.multiplicities)}
    phase = Phase(
        op=PhaseOp.BROADCAST,
        roots=tuple(routed.roots),
        shares=tuple(shares[multiplicity] for multiplicity in routed.multiplicities),
        routes=Rows(np.arange(len(routed.roots) + 1, dtype=np.int64) * (nodes - 1), numbers),
    )
    if not plan.reduces:
        return routes, phase
    return routes.backwards(), replace(phase, op=phase.op.dual, routes=phase.routes.backwards())


def _joined(parts: Sequence[tuple[Rows, Phase]]) -> tuple[Rows, tuple[Phase, ...]]:
    """Return one table of distinct routes, and the phases with the new route numbers."""
    lengths = np.concatenate([np.diff(routes.starts) for routes, _ in parts])
    entries = np.concatenate([routes.entries for routes, _ in parts])
    routes, numbers = distinct_rows(Rows(row_starts(lengths), entries))
    phases: list[Phase] = []
    begin = 0
    for table, phase in parts:
        renumbered = numbers[begin : begin + len(table)][phase.routes.entries]
        phases.append(replace(phase, routes=Rows(phase.routes.starts, renumbered)))
        begin += len(table)
    return routes, tuple(phases)


def _used_routes(paths: Rows, used: npt.NDArray[np.int32]) -> tuple[Rows, npt.NDArray[np.int32]]:
    """Return the paths that `used` contains, and `used` with their new numbers."""
    kept = np.zeros(len(paths), dtype=bool)
    kept[used] = True
    if kept.all():
        return paths, used
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    return paths.take(np.flatnonzero(kept)), numbers[used]
