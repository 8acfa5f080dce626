"""Two schedules on the same network side by side, with their names and bandwidths in words."""

from forestcoll.presentation.pictures.network.loads import algbw_of, busy_parts
from forestcoll.presentation.pictures.sends.side_by_side import Side, side_by_side
from forestcoll.presentation.pictures.svg import Element, text
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId
from forestcoll.topology.link_classes import LinkClass, link_classes


def side_by_side_svg(
    left: Schedule, right: Schedule, *, names: tuple[str, str] = ("left", "right"), shard: NodeId | None = None
) -> str:
    """Return two schedules on the same network side by side, as SVG.

    The upper row shows the loads of all links. The lower row follows a part of the data of one node: how many sends it
    needs, and how often it enters each box.

    Args:
        left: the schedule on the left, which `verify` accepts.
        right: the schedule on the right, for the same network.
        names: the headings of the two schedules.
        shard: the id of the node whose data is followed; the first node that takes part if None.

    Returns:
        The text of one `svg` element.

    Raises:
        InputError: the networks differ, there is no such node, or a schedule has no tree with this root.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring"], sizes=[])
        >>> ring, forest = (found.row(name).schedule for name in ("nccl-ring", "forestcoll"))
        >>> side_by_side_svg(ring, forest, names=("rings", "forest"))[:4]
        '<svg'
    """
    return text(pair_picture(left, right, names, shard))


def pair_picture(left: Schedule, right: Schedule, names: tuple[str, str], shard: NodeId | None = None) -> Element:
    """Return the picture of `side_by_side_svg` as an element."""
    number = None if shard is None else left.topology.named(shard)
    one, other = (_side(schedule, name) for schedule, name in zip((left, right), names, strict=True))
    title = f"{one.heading} and {other.heading} on {left.topology.name}"
    return side_by_side(one, other, title=title, shard=number)


def _side(schedule: Schedule, name: str) -> Side:
    algbw, unit = algbw_of(schedule), schedule.topology.bandwidth_unit
    heading = name if algbw is None else f"{name}: {float(algbw):.4g} {unit}"
    return Side(schedule, heading, load_words(schedule))


def load_words(schedule: Schedule) -> str:
    """Return how busy the two busiest classes of links are, in words.

    Example:
        >>> from forestcoll import generate
        >>> load_words(generate("dgx-a100:boxes=2"))
        '300 GB/s links between GPUs and box switches: busy 100 %; 25 GB/s links between GPUs and switches: busy 100 %'
    """
    topology = schedule.topology
    busy = busy_parts(schedule)
    places = topology.link_numbers
    classes = []
    for each in link_classes(topology):
        loads = [busy[places[ends]] for pair in each.links for ends in (pair, pair[::-1]) if ends in places]
        classes.append((each, loads))
    classes.sort(key=lambda found: (-max(found[1]), -found[0].bandwidth))
    unit = topology.bandwidth_unit
    return "; ".join(f"{_name(each, unit)}: busy {_range(loads)}" for each, loads in classes[:2])


def _name(links: LinkClass, unit: str) -> str:
    """Return the name of a class of links without their number."""
    between = links.name(unit).partition(" between ")[2]
    return f"{links.bandwidth} {unit} links between {between}"


def _range(loads: list[float]) -> str:
    low, high = f"{100 * min(loads):.3g}", f"{100 * max(loads):.3g}"
    return f"{high} %" if low == high else f"{low} to {high} %"
