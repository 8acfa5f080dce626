"""The shape of a schedule of any kind. The table `SHAPES` is the only place that lists all kinds of shapes."""

from collections.abc import Callable
from typing import Any, overload

from forestcoll.schedule.bundle.shape import BundleShape, bundle_shape
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.shape import FlowShape, flow_shape
from forestcoll.schedule.flows.value import FlowSchedule
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
    FlowSchedule: flow_shape,
    BundleSchedule: bundle_shape,
}
"""The function that computes the shape, for each kind."""


@overload
def shape_of(schedule: TreeSchedule) -> TreeShape: ...
@overload
def shape_of(schedule: StepSchedule) -> StepShape: ...
@overload
def shape_of(schedule: SeriesSchedule) -> SeriesShape: ...
@overload
def shape_of(schedule: FlowSchedule) -> FlowShape: ...
@overload
def shape_of(schedule: BundleSchedule) -> BundleShape: ...
@overload
def shape_of(schedule: Schedule) -> Shape: ...
def shape_of(schedule: Schedule) -> Shape:
    """Return the shape of a schedule, such as the heights of trees, the times of steps, or the lengths of flows.

    Args:
        schedule: a schedule of any kind that `verify` accepts.

    Returns:
        A `TreeShape`, `StepShape`, `SeriesShape`, `FlowShape` or `BundleShape`; `hops` is common to all.

    Raises:
        InputError: this kind of schedule has no shape.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> shape_of(generate(build_topology("ring:nodes=4"))).hops
        2
    """
    return entry_for(SHAPES, schedule, "measured")(schedule)
