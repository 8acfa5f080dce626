"""Schedules of spanning trees that reach the optimum (ForestColl §5).

The optimum scales the network so that a capacity counts trees; switches are split off into logical links between
compute nodes; spanning trees are packed into these; and each tree edge is routed back over the physical links that its
capacity came from. Every step is exact and polynomial; `docs/method.md` walks through them.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.bounds import Optimum, optimum
from forestcoll.bounds.scaling import ScaledTopology
from forestcoll.collective import Collective
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule import Phase, PhaseOp, Rows, Schedule
from forestcoll.topology import Topology


def generate(
    topology: Topology,
    collective: Collective = Collective.ALLGATHER,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Schedule:
    """Return a schedule that reaches the optimum of `collective` on `topology`.

    The same topology gives the same schedule. Arguments and errors are those of `bounds.optimum`.
    """
    best = optimum(topology, collective, trees=trees, max_trees=max_trees, progress=progress)
    return schedule_for(best, progress=progress)


def schedule_for(best: Optimum, *, progress: Progress = SILENT) -> Schedule:
    """Return a schedule of `best.trees_per_root` trees per root that reaches `best.algbw`."""
    nodes = len(best.topology.compute)
    capacities = best.tree_capacities()
    demand = nodes * best.trees_per_root
    core, problem = ScaledTopology.of(best.topology).problem(capacities, bound=sum(capacities) + 2 * demand)
    progress.begin("removing switches")
    logical = core.remove_switches(problem, best.trees_per_root, progress.advance)
    progress.begin("packing trees")
    batches, _ = core.pack_trees(problem, logical, best.trees_per_root, progress.advance)
    progress.begin("routing trees")
    roots, multiplicities, paths, starts, path_nodes = core.route_trees(problem, logical, batches, progress.advance)
    routes, numbers = _used_routes(Rows(starts, path_nodes), paths)
    tree_starts = np.arange(len(roots) + 1, dtype=np.int64) * (nodes - 1)
    shares = {multiplicity: Fraction(multiplicity, demand) for multiplicity in set(multiplicities)}
    phase = Phase(
        op=PhaseOp.BROADCAST,
        roots=tuple(roots),
        shares=tuple(shares[multiplicity] for multiplicity in multiplicities),
        routes=Rows(tree_starts, numbers),
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
    """Return the paths that `used` names, in the order of their node numbers, and `used` renumbered to match."""
    kept = sorted(np.unique(used).tolist(), key=paths.__getitem__)
    numbers = np.zeros(len(paths), dtype=np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    return Rows.of([paths[path] for path in kept]), numbers[used]
