"""A schedule of trees in words and figures: how tall its trees are, and how much it sends."""

from forestcoll.schedule.trees.shape import TreeShape
from forestcoll.schedule.trees.traffic import Traffic


def traffic_document(traffic: Traffic) -> dict[str, object]:
    """Return the JSON keys that state how much a schedule sends, in multiples of M."""
    return {"sent_per_node": str(traffic.sent), "sent_on_all_links": str(traffic.wire)}


def traffic_rows(traffic: Traffic) -> list[tuple[str, str]]:
    """Return the row that states how much a schedule sends."""
    sent, wire = float(traffic.sent), float(traffic.wire)
    return [("traffic", f"a compute node sends {sent:.4g} M on average; all links together carry {wire:.5g} M")]


def shape_rows(shape: TreeShape) -> list[tuple[str, str]]:
    """Return the rows that state how tall trees are."""
    height = f"{shape.greatest_height} sends at most, {shape.mean_height:.2f} on average"
    images = f", {shape.group_order} images each: {shape.trees} trees"
    return [
        ("listed trees", f"{shape.base_trees}{images if shape.group_order > 1 else ''}"),
        ("height", f"{height} (links: {shape.greatest_hops}, {shape.mean_hops:.2f})"),
    ]
