"""The shape of a schedule of any kind: the table `SHAPES` is the one place that knows how to find each."""

from collections.abc import Callable
from typing import Any, overload

from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.series.shape import SeriesShape, series_shape
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.steps.shape import StepShape, step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.shape import TreeShape, tree_shape
from forestcoll.schedule.trees.value import TreeSchedule

SHAPES: dict[type[Schedule], Callable[[Any], Shape]] = {
    TreeSchedule: tree_shape,
    StepSchedule: step_shape,
    SeriesSchedule: series_shape,
}
"""How the shape of each kind is found."""


@overload
def shape_of(schedule: TreeSchedule) -> TreeShape: ...
@overload
def shape_of(schedule: StepSchedule) -> StepShape: ...
@overload
def shape_of(schedule: SeriesSchedule) -> SeriesShape: ...
@overload
def shape_of(schedule: Schedule) -> Shape: ...
def shape_of(schedule: Schedule) -> Shape:
    """Return the shape of a schedule of any kind: heights of trees, times of steps, height of a series.

    Args:
        schedule: a schedule that `verify` finds right.

    Raises:
        InputError: nothing is known of the shape of this kind.

    Example:
        >>> from forestcoll import build_topology, generate
        >>> shape_of(generate(build_topology("ring:nodes=4"))).hops
        2
    """
    return entry_for(SHAPES, schedule, "measured")(schedule)
