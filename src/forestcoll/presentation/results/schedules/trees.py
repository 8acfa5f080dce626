"""Rows and JSON keys about a schedule of trees: the number and height of its trees, and the data that it sends."""

from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.errors import plural
from forestcoll.presentation.results.schedules.claims import document_with, page_with
from forestcoll.presentation.tables import Page
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.schedule.trees.value import TreeSchedule

if TYPE_CHECKING:
    from forestcoll.verification import TreeReport


def traffic_document(schedule: TreeSchedule) -> dict[str, object]:
    """Return the JSON keys about the data that a schedule sends, in multiples of M."""
    traffic = traffic_of(schedule)
    return {"sent_per_node": str(traffic.sent), "sent_on_all_links": str(traffic.wire)}


def traffic_rows(schedule: TreeSchedule) -> list[tuple[str, str]]:
    """Return the row about the data that a schedule sends."""
    traffic = traffic_of(schedule)
    sent, wire = float(traffic.sent), float(traffic.wire)
    return [("traffic", f"a compute node sends {sent:.4g} M on average; all links together carry {wire:.5g} M")]


def shape_document(schedule: TreeSchedule) -> dict[str, object]:
    """Return the JSON keys about the number and the height of trees."""
    shape = tree_shape(schedule)
    return {
        "trees": shape.trees,
        "base_trees": shape.base_trees,
        "group_order": shape.group_order,
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
        "greatest_hops": shape.greatest_hops,
        "mean_hops": shape.mean_hops,
    }


def shape_rows(schedule: TreeSchedule) -> list[tuple[str, str]]:
    """Return the rows about the number and the height of trees."""
    shape = tree_shape(schedule)
    height = f"at most {plural(shape.greatest_height, 'send')}, {shape.mean_height:.2f} on average"
    images = f", {shape.group_order} images each: {shape.trees} trees"
    return [
        ("listed trees", f"{shape.base_trees}{images if shape.group_order > 1 else ''}"),
        ("height", f"{height} (in links: {shape.greatest_hops}, {shape.mean_hops:.2f})"),
    ]


def verified_page(schedule: TreeSchedule, report: "TreeReport", file: Path) -> Page:
    """Return the page of a valid schedule of trees that was read from `file`."""
    return page_with(schedule, report, file, [*shape_rows(schedule), *traffic_rows(schedule)])


def verified_document(schedule: TreeSchedule, report: "TreeReport") -> dict[str, object]:
    """Return the JSON keys of a valid schedule of trees."""
    return document_with(schedule, report, shape_document(schedule) | traffic_document(schedule))
