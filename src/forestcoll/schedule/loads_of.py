"""The loads of links under a schedule of any kind. The table `LOADS` lists all kinds."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads import LinkLoads, loads_along_routes
from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.traffic import total_loads
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule


def _of_trees(schedule: TreeSchedule) -> LinkLoads:
    return loads_along_routes(schedule.topology, schedule.routes, schedule.phases, schedule.symmetry)


def _of_flows(schedule: FlowSchedule) -> LinkLoads:
    return loads_along_routes(schedule.topology, schedule.routes, [schedule.flows], schedule.symmetry)


def _of_series(schedule: SeriesSchedule) -> LinkLoads:
    parts = [Fraction(0)] * len(schedule.topology.links)
    for tree in schedule.trees:
        for ends in tree.edges:
            parts[schedule.topology.link_numbers[ends]] += tree.weight / schedule.algbw
    return LinkLoads.of_parts(parts)


def _of_bundle(schedule: BundleSchedule) -> LinkLoads:
    """Return the data of all members, in multiples of the M of size 1."""
    parts = [Fraction(0)] * len(schedule.topology.links)
    for member in schedule.bundled:
        own = link_loads(member.schedule).exact
        parts = [part + member.size * each for part, each in zip(parts, own, strict=True)]
    return LinkLoads.of_parts(parts)


LOADS: dict[type[Schedule], Callable[[Any], LinkLoads]] = {
    TreeSchedule: _of_trees,
    StepSchedule: total_loads,
    SeriesSchedule: _of_series,
    FlowSchedule: _of_flows,
    BundleSchedule: _of_bundle,
}
"""The function that computes the loads of links, for each kind."""


def link_loads(schedule: Schedule) -> LinkLoads:
    """Return the data that `schedule` sends over each link, with all images of base trees and base flows.

    Args:
        schedule: a schedule of any kind that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> [str(part) for part in link_loads(generate("ring:nodes=3", "allreduce")).exact]
        ['2/3', '2/3', '2/3', '2/3', '2/3', '2/3']

    Raises:
        InputError: the loads of schedules of this kind are not known.
    """
    return entry_for(LOADS, schedule, "measured")(schedule)
