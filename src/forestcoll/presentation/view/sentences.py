"""Sentences about networks and schedules, for pages."""

from forestcoll.counting import plural
from forestcoll.pictures.network.loads import algbw_of
from forestcoll.presentation.text import bandwidth, capitalized, printable
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology


def network_sentence(topology: Topology) -> str:
    """Return the size of a network in a sentence.

    Example:
        >>> from forestcoll import build_topology
        >>> network_sentence(build_topology("dgx-a100:boxes=2"))
        'dgx-a100:boxes=2 has 16 compute nodes in 2 boxes, 3 switches, and 64 links, each in one direction.'
    """
    boxes = {str(node.attributes["box"]) for node in topology.nodes if "box" in node.attributes}
    where = f" in {len(boxes):,} box{'es' * (len(boxes) > 1)}" if boxes else ""
    switches = len(topology.switches)
    count = f"{switches:,} switch{'es' * (switches > 1)}" if switches else "no switches"
    compute, links = plural(len(topology.compute), "compute node"), plural(len(topology.links), "link")
    return f"{printable(topology.name)} has {compute}{where}, {count}, and {links}, each in one direction."


def _size(schedule: Schedule) -> str:
    if not isinstance(schedule, TreeSchedule):
        return schedule.size
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    return plural(order * sum(map(len, schedule.phases)), "tree")


def schedule_sentence(schedule: Schedule) -> str:
    """Return what a schedule does and reaches, in one or two sentences."""
    unit = printable(schedule.topology.bandwidth_unit)
    root = "" if schedule.root is None else f", root {printable(schedule.topology.nodes[schedule.root].id)}"
    is_one = schedule.operation == schedule.collective.value
    words = capitalized(schedule.collective.with_article if is_one else schedule.operation)
    words = f"{words} between {len(schedule.members):,} compute nodes{root}: {_size(schedule)}."
    algbw = algbw_of(schedule)
    if algbw is None:
        return words
    words = f"{words} Its algorithmic bandwidth for large data is {bandwidth(algbw, unit)}"
    if schedule.bound is None:
        return f"{words}."
    if schedule.bound.algbw == algbw:
        return f"{words}, which is the bound: no schedule is faster."
    return f"{words}, and the bound is {bandwidth(schedule.bound.algbw, unit)}."
