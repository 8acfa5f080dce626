"""Schedules that reach the optimum of a request."""

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, ShardsByNode
from forestcoll.demand.demand import Demand, DemandLike
from forestcoll.demand.method import Method
from forestcoll.demand.ranks import RanksLike
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import solve
from forestcoll.solver.problem import Solution
from forestcoll.topology import NodeId, TopologyLike


def generate(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    collective: DemandLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    max_peers: int | None = None,
    method: Method | str = Method.AUTO,
    compact: bool = False,
    progress: Progress = SILENT,
) -> TreeSchedule:
    """Return a schedule that reaches the optimum of `collective` on `topology`.

    The same arguments always give the same schedule. With the method `auto`, its `algbw` is that of `optimum`.

    Args:
        topology: as for `optimum`.
        collective: as for `optimum`.
        ranks: as for `optimum`.
        root: as for `optimum`.
        shards: as for `optimum`.
        trees: as for `optimum`.
        max_trees: as for `optimum`.
        max_peers: as for `optimum`. All trees are then listed, so `compact` must be left out.
        method: how trees are found: `auto`, `fast` or `proven`.
        compact: whether the schedule lists base trees and a symmetry of the network, if there is a symmetry.
        progress: receives the stages of the work.

    Returns:
        The schedule. `verify` checks it.

    Raises:
        InputError: see `optimum` and `schedule_for`.
        NoSolutionError: see `optimum` and `schedule_for`.

    Example:
        >>> from forestcoll import generate, verify
        >>> schedule = generate("dgx-a100:boxes=2")
        >>> str(schedule.algbw), verify(schedule).ok
        ('1040/3', True)
    """
    request = Demand.of(collective, ranks, root, shards)
    solution = solve(topology, request, trees=trees, max_trees=max_trees, max_peers=max_peers, progress=progress)
    return schedule_of(solution, method=method, compact=compact, progress=progress)


def schedule_of(
    solution: Solution, *, method: Method | str = Method.AUTO, compact: bool = False, progress: Progress = SILENT
) -> TreeSchedule:
    """Return the schedule of a solution: `solution.schedule` if it fits the arguments, or a new one.

    `solution.schedule` was made by the method `auto`. Another method, or base trees, may load links differently. The
    algbw of the new schedule is then its own, and `progress` receives a remark on the difference.

    Raises:
        InputError: see `schedule_for`.
        NoSolutionError: see `schedule_for`.
    """
    if solution.schedule is not None and method == Method.AUTO and not compact:
        return solution.schedule
    best = solution.optimum
    schedule = schedule_for(best, method=method, compact=compact, progress=progress)
    if schedule.algbw != best.algbw:
        unit = best.topology.bandwidth_unit
        progress.remark(
            f"{best.topology.name}: these trees reach {schedule.algbw} {unit}; the trees of the method auto reach "
            f"{best.algbw} {unit}"
        )
    return schedule
