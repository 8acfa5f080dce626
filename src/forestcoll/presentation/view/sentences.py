"""Sentences about networks and schedules, for pages."""

from forestcoll.base.errors import plural
from forestcoll.presentation.pictures.network.loads import algbw_of
from forestcoll.presentation.text import bandwidth, capitalized
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule


def _size(schedule: Schedule) -> str:
    if not isinstance(schedule, TreeSchedule):
        return schedule.size
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    return plural(order * sum(map(len, schedule.phases)), "tree")


def schedule_sentence(schedule: Schedule) -> str:
    """Return what a schedule does and reaches, in one or two sentences."""
    unit = schedule.topology.bandwidth_unit
    root = "" if schedule.root is None else f", root {schedule.topology.nodes[schedule.root].id}"
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
