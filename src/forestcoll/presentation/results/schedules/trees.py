"""Rows about a schedule of trees: the number and height of its trees, and the data that it sends."""

from typing import TYPE_CHECKING

from forestcoll.base.errors import plural
from forestcoll.presentation.results.schedules import claims
from forestcoll.presentation.tables import Row, row
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.schedule.trees.value import TreeSchedule

if TYPE_CHECKING:
    from forestcoll.verification import TreeReport

what = claims.what


def verified_rows(schedule: TreeSchedule, report: "TreeReport") -> list[Row]:
    """Return the rows of a valid schedule of trees."""
    return [*claims.verified_rows(schedule, report), *made_rows(schedule)]


def made_rows(schedule: TreeSchedule) -> list[Row]:
    """Return the rows about the number and the height of trees, and the data that they send in multiples of M."""
    shape, traffic = tree_shape(schedule), traffic_of(schedule)
    height = f"at most {plural(shape.greatest_height, 'send')}, {shape.mean_height:.2f} on average"
    images = f", {shape.group_order} images each: {shape.trees} trees" * (shape.group_order > 1)
    heights = {"greatest_height": shape.greatest_height, "mean_height": shape.mean_height}
    sent = f"a compute node sends {float(traffic.sent):.4g} M on average"
    return [
        row("listed trees", f"{shape.base_trees}{images}", trees=shape.trees, base_trees=shape.base_trees),
        row("height", f"{height} (in links: {shape.greatest_hops}, {shape.mean_hops:.2f})", **heights),
        row("traffic", f"{sent}; all links together carry {float(traffic.wire):.5g} M", sent_per_node=traffic.sent),
        row(group_order=shape.group_order, greatest_hops=shape.greatest_hops, mean_hops=shape.mean_hops),
        row(sent_on_all_links=traffic.wire),
    ]
