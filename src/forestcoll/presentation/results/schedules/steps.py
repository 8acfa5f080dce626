"""A verified step schedule in rows."""

from typing import TYPE_CHECKING

from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.claims import busbw_rows
from forestcoll.presentation.tables import Row, row
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.steps.shape import reduction_factor
from forestcoll.schedule.steps.value import StepSchedule

if TYPE_CHECKING:
    from forestcoll.verification import StepReport


CHECKED = "senders have what they send, all shards arrive, loads are exact"
"""What the verification of steps looks at."""


def what(schedule: StepSchedule) -> str:
    """Return what a step schedule does, and where."""
    place = f"{schedule.topology.name}, {counted(schedule.topology, schedule.ranks)}"
    return f"{schedule.collective.value} in steps on {place}"


def verified_rows(schedule: StepSchedule, report: "StepReport") -> list[Row]:
    """Return the rows of a valid step schedule."""
    topology, algbw, adding = schedule.topology, report.algbw, reduction_factor(schedule)
    hops = f" (T_L{'' if len(schedule.routes) else ', in hops'})" * (report.bandwidth_factor is not None)
    rows = [
        row(topology=topology.name, collective=schedule.collective, compute_nodes=len(schedule.members)),
        row("steps", f"{schedule.steps}{hops}", steps=schedule.steps),
        row(bandwidth_factor=report.bandwidth_factor, least_bandwidth_factor=report.least_factor),
        row(bandwidth_optimal=report.optimal, algbw=algbw, algbw_float=None if algbw is None else float(algbw)),
        row(unit=topology.bandwidth_unit, reduction_factor=adding, transfers=len(schedule)),
        *_factor_rows(schedule, report),
    ]
    return rows if schedule.ranks is None else [*rows, row(ranks=topology.ids(schedule.ranks))]


def _factor_rows(schedule: StepSchedule, report: "StepReport") -> list[Row]:
    whole, least = report.bandwidth_factor, report.least_factor
    if whole is None or least is None:
        return []
    optimal = "the minimum" if report.optimal else f"the lower bound is {least} ({float(least):.4g})"
    rows = [row("bandwidth", f"{whole} ({float(whole):.4g}) M/B (T_B); {optimal}")]
    if report.algbw is not None:
        unit, factor = schedule.topology.bandwidth_unit, schedule.demand.busbw_factor(schedule.topology)
        rows.append(row("algbw", f"{bandwidth(report.algbw, unit)} for large data"))
        rows += busbw_rows(report.algbw, factor, unit)
    if adding := reduction_factor(schedule):
        rows.append(row("reduction", f"{adding} ({float(adding):.4g}) M/R (T_C), where a node adds up R GB/s"))
    rows.append(row("transfers", f"{len(schedule)}{_images(schedule)}"))
    if len(schedule.routes):
        rows.append(row("routes", f"{len(schedule.routes)} (of up to {max(map(len, schedule.routes)) - 1} links)"))
    return rows


def _images(schedule: StepSchedule) -> str:
    return "" if schedule.symmetry is None else f" listed, {schedule.symmetry.order} images each"
