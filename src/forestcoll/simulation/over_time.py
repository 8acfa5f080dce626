"""The sends of one part of the data over time, for each kind of schedule."""

from collections.abc import Callable, Mapping
from typing import Any

from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.sends import RootSends
from forestcoll.simulation.steps.sends import sends_of_shard
from forestcoll.simulation.trees.sends import sends_of_tree


def _of_steps(schedule: StepSchedule, size: int, _pieces: int, costs: Costs) -> RootSends:
    return sends_of_shard(schedule, size, costs)


_SENDS: Mapping[type[Schedule], Callable[[Any, int, int, Costs], RootSends]] = {
    TreeSchedule: sends_of_tree,
    StepSchedule: _of_steps,
}


def sends_over_time(schedule: Schedule, size: int, pieces: int, costs: Costs | None = None) -> RootSends:
    """Return who sends to whom, and when, for one part of the data.

    For trees, the part is that of the tree of the first root that is done last. For steps, it is the shard of the
    first compute node.

    Args:
        schedule: a schedule that `verify` accepts.
        size: M in bytes.
        pieces: the number of pieces, as `Point.pieces`.
        costs: the costs of a send; the defaults of `Costs` if None.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known, or the schedule is of another kind.

    Example:
        >>> from forestcoll import generate
        >>> found = sends_over_time(generate("ring:nodes=4"), 10**6, 1)
        >>> [(send.source, send.target, round(send.end * 1e6)) for send in found.sends]
        [(0, 1, 381), (0, 3, 381), (1, 2, 762)]
    """
    return entry_for(_SENDS, schedule, "shown over time")(schedule, size, pieces, costs or Costs())
