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
from forestcoll.method import Method
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule import Phase, PhaseOp, Rows, Schedule
from forestcoll.topology import Topology


def generate(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective = Collective.ALLGATHER,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    method: Method | str = Method.AUTO,
    progress: Progress = SILENT,
) -> Schedule:
    """Return a schedule that reaches the optimum of `collective` on `topology`.

    The same arguments give the same schedule. They and the errors are those of `bounds.optimum` and `schedule_for`.
    """
    best = optimum(topology, collective, trees=trees, max_trees=max_trees, progress=progress)
    return schedule_for(best, method=method, progress=progress)


def schedule_for(best: Optimum, *, method: Method | str = Method.AUTO, progress: Progress = SILENT) -> Schedule:
    """Return a schedule of `best.trees_per_root` trees per root that reaches `best.algbw`.

    Raises:
        InputError: there is no such method.
        NoSolutionError: `method` is fast, and the fast way did not complete all trees.
    """
    way = _method(method)
    capacities = best.tree_capacities()
    demand = len(best.topology.compute) * best.trees_per_root
    scaled, bound = ScaledTopology.of(best.topology), sum(capacities) + 2 * demand
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(capacities, bound)
    if way is Method.PROVEN:
        routed = _proven_trees(core, problem, best.trees_per_root, progress)
    else:
        routed = _grown_trees(core, problem, best, way, progress)
    return _schedule(best, routed)


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


def _schedule(best: Optimum, routed: RoutedTrees) -> Schedule:
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
    )


def _used_routes(paths: Rows, used: npt.NDArray[np.int32]) -> tuple[Rows, npt.NDArray[np.int32]]:
    """Return the paths that `used` names, and `used` with their new numbers."""
    kept = np.zeros(len(paths), dtype=bool)
    kept[used] = True
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    return paths.take(np.flatnonzero(kept)), numbers[used]
