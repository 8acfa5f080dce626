"""Schedules that reach the optimum of what is asked."""

from forestcoll.collective import Collective, ShardsByNode
from forestcoll.generation.forest import schedule_for
from forestcoll.method import Method
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.optimum import optimum
from forestcoll.topology import NodeId, Topology


def generate(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
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

    The same arguments give the same schedule. They and the errors are those of `optimum.optimum` and `schedule_for`.
    """
    best = optimum(
        topology,
        collective,
        ranks=ranks,
        root=root,
        shards=shards,
        trees=trees,
        max_trees=max_trees,
        progress=progress,
    )
    return schedule_for(best, method=method, compact=compact, progress=progress)
