"""Schedules that reach the optimum of what is asked."""

from forestcoll.collective import Collective, ShardsByNode
from forestcoll.generation.forest import schedule_for
from forestcoll.method import Method
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.request import Request, RequestLike
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.optimum import solve
from forestcoll.solver.search import Solution
from forestcoll.topology import NodeId, TopologyLike


def generate(  # noqa: PLR0913 (what is asked, and how)
    topology: TopologyLike,
    collective: RequestLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    method: Method | str = Method.AUTO,
    compact: bool = False,
    progress: Progress = SILENT,
) -> TreeSchedule:
    """Return a schedule that reaches the optimum of `collective` on `topology`.

    The same arguments give the same schedule, whose `algbw` is that of `optimum` for the same arguments.

    Args:
        topology: as of `optimum`.
        collective: as of `optimum`.
        ranks: as of `optimum`.
        root: as of `optimum`.
        shards: as of `optimum`.
        trees: as of `optimum`.
        max_trees: as of `optimum`.
        method: how trees are found.
        compact: whether the schedule holds base trees and a symmetry of the network, where there is one.
        progress: is kept informed of the stages.

    Returns:
        The schedule; `verify` judges it.

    Raises:
        InputError: as `optimum` and `schedule_for`.
        NoSolutionError: as `optimum` and `schedule_for`.

    Example:
        >>> from forestcoll import generate, verify
        >>> schedule = generate("dgx-a100:boxes=2")
        >>> str(schedule.algbw), verify(schedule).ok
        ('1040/3', True)
    """
    request = Request.of(collective, ranks, root, shards)
    solution = solve(topology, request, trees=trees, max_trees=max_trees, progress=progress)
    return schedule_of(solution, method=method, compact=compact, progress=progress)


def schedule_of(
    solution: Solution, *, method: Method | str = Method.AUTO, compact: bool = False, progress: Progress = SILENT
) -> TreeSchedule:
    """Return the schedule of a solution: the one that settled it, if that was asked for, or one made now.

    Where a schedule settled the algbw, that was by the method `auto`. Another method, or base trees, may load links
    otherwise; the schedule then states what it reaches itself, and `progress` is told of the difference.

    Raises:
        InputError: as `schedule_for`.
        NoSolutionError: as `schedule_for`.
    """
    if solution.schedule is not None and method == Method.AUTO and not compact:
        return solution.schedule
    best = solution.optimum
    schedule = schedule_for(best, method=method, compact=compact, progress=progress)
    if schedule.algbw != best.algbw:
        unit = best.topology.bandwidth_unit
        progress.remark(
            f"{best.topology.name}: these trees reach {schedule.algbw} {unit}; all trees by the method auto reach "
            f"{best.algbw} {unit}"
        )
    return schedule
