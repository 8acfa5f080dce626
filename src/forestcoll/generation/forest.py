"""Schedules of spanning trees that reach the optimum (ForestColl §5).

The optimum scales the network so that a capacity counts trees. Trees are then grown on the network as it is, by a fast
way that is optimistic but whose result, a complete set of trees within the capacities, is its own proof; what it cannot
complete is left to the paper's way, which is proven to end: switches are split off into logical links between compute
nodes, spanning trees are packed into these, and each tree edge is routed back over the links that its capacity came
from. Every step is exact; `docs/method.md` walks through them.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.bounds import Optimum, optimum
from forestcoll.bounds.scaling import ScaledTopology
from forestcoll.collective import Collective
from forestcoll.core import AnyProblem, Core, RoutedTrees
from forestcoll.errors import InputError, NoSolutionError
from forestcoll.generation.memory import can_fit, check_memory
from forestcoll.generation.symmetric import grow_base_trees
from forestcoll.method import Method
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule import Phase, PhaseOp, Rows, Schedule
from forestcoll.topology import Symmetry, Topology

MOST_LISTED_EDGES = 2**27
"""The most tree edges that are written out, if there is a symmetry: a file of more is larger than what is read."""

_WORTH_A_SYMMETRY = 2**19
"""Tree edges from which on it is worth while to look for a symmetry, even to write out all trees in the end."""


def generate(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective = Collective.ALLGATHER,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    method: Method | str = Method.AUTO,
    compact: bool = False,
    progress: Progress = SILENT,
) -> Schedule:
    """Return a schedule that reaches the optimum of `collective` on `topology`.

    The same arguments give the same schedule. They and the errors are those of `bounds.optimum` and `schedule_for`.
    """
    best = optimum(topology, collective, trees=trees, max_trees=max_trees, progress=progress)
    return schedule_for(best, method=method, compact=compact, progress=progress)


def schedule_for(
    best: Optimum, *, method: Method | str = Method.AUTO, compact: bool = False, progress: Progress = SILENT
) -> Schedule:
    """Return a schedule of `best.trees_per_root` trees per root that reaches `best.algbw`.

    If `compact`, or if a list of all trees would be too long to be kept or read, it holds base trees and a symmetry of
    the network where there is one. Large symmetric networks get all trees by way of base trees as well.

    Raises:
        InputError: there is no such method, it cannot be compact, or the schedule cannot fit into the memory.
        NoSolutionError: `method` is fast, and the fast way did not complete all trees.
    """
    way = _method(method)
    if compact and way is Method.PROVEN:
        raise InputError("the proven way packs the trees of every root, it has no base trees; leave compact out")
    capacities = best.tree_capacities()
    nodes = len(best.topology.compute)
    scaled, bound = ScaledTopology.of(best.topology), sum(capacities) + 2 * nodes * best.trees_per_root
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(capacities, bound)
    edges = nodes * (nodes - 1)
    listed = not compact and edges <= MOST_LISTED_EDGES and can_fit(best.topology, nodes)
    if way is not Method.PROVEN and (not listed or edges >= _WORTH_A_SYMMETRY):
        base = grow_base_trees(core, problem, best, progress)
        if base is not None:
            schedule = _schedule(best, base[0], base[1])
            if listed:
                return schedule.expanded()
            if not compact:
                progress.remark(f"{best.topology.name}: a list of all trees is too long; base trees stand for them")
            return schedule
    _check_size(best.topology, progress)
    if way is Method.PROVEN:
        routed = _proven_trees(core, problem, best.trees_per_root, progress)
    else:
        routed = _grown_trees(core, problem, best, way, progress)
    return _schedule(best, routed, None)


def _check_size(topology: Topology, progress: Progress) -> None:
    """Refuse a list of all trees that cannot be kept; say so of one that may be too large."""
    warning = check_memory(topology, len(topology.compute))
    if warning is not None:
        progress.remark(warning)


def _method(name: Method | str) -> Method:
    try:
        return Method(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in Method)
        raise InputError(f"there is no method {name!r}; there are {known}") from None


def _grown_trees(core: Core, problem: AnyProblem, best: Optimum, method: Method, progress: Progress) -> RoutedTrees:
    progress.begin("growing trees")
    routed, counters = core.grow_trees(problem, best.trees_per_root, progress.advance, prove=method is Method.AUTO)
    progress.note(counters)
    if counters["missing"]:
        raise NoSolutionError(
            f"{best.topology.name}: the fast way left the trees of {counters['missing']} roots incomplete; "
            "use the method auto or proven"
        )
    return RoutedTrees(*routed)


def _proven_trees(core: Core, problem: AnyProblem, trees: int, progress: Progress) -> RoutedTrees:
    progress.begin("removing switches")
    logical = core.remove_switches(problem, trees, progress.advance)
    progress.begin("packing trees")
    batches, counters = core.pack_trees(problem, logical, trees, progress.advance)
    progress.note(counters)
    progress.begin("routing trees")
    return RoutedTrees(*core.route_trees(problem, logical, batches, progress.advance))


def _schedule(best: Optimum, routed: RoutedTrees, symmetry: Symmetry | None) -> Schedule:
    nodes = len(best.topology.compute)
    routes, numbers = _used_routes(Rows(routed.path_starts, routed.path_nodes), routed.paths)
    demand = nodes * best.trees_per_root
    shares = {multiplicity: Fraction(multiplicity, demand) for multiplicity in set(routed.multiplicities)}
    phase = Phase(
        op=PhaseOp.BROADCAST,
        roots=tuple(routed.roots),
        shares=tuple(shares[multiplicity] for multiplicity in routed.multiplicities),
        routes=Rows(np.arange(len(routed.roots) + 1, dtype=np.int64) * (nodes - 1), numbers),
    )
    return Schedule(
        topology=best.topology,
        collective=best.collective,
        routes=routes,
        phases=(phase,),
        algbw=best.algbw,
        optimal_algbw=best.optimal_algbw,
        cut=best.cut,
        trees_per_root=best.trees_per_root,
        symmetry=symmetry,
    )


def _used_routes(paths: Rows, used: npt.NDArray[np.int32]) -> tuple[Rows, npt.NDArray[np.int32]]:
    """Return the paths that `used` names, and `used` with their new numbers."""
    kept = np.zeros(len(paths), dtype=bool)
    kept[used] = True
    if kept.all():
        return paths, used
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    return paths.take(np.flatnonzero(kept)), numbers[used]
