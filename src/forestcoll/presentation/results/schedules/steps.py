"""A verified step schedule as a page and as JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.files import input_name
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.steps.shape import reduction_factor
from forestcoll.schedule.steps.value import StepSchedule

if TYPE_CHECKING:
    from forestcoll.verification import StepReport


CHECKED = "senders have what they send, all shards arrive, loads are exact"
"""What the verification of steps looks at."""


def verified_document(schedule: StepSchedule, report: "StepReport") -> dict[str, object]:
    """Return the JSON keys of a valid step schedule and the report of its verification."""
    algbw = report.algbw
    return {
        "topology": schedule.topology.name,
        "collective": schedule.collective.value,
        "compute_nodes": len(schedule.members),
        "steps": schedule.steps,
        "bandwidth_factor": str(report.bandwidth_factor),
        "least_bandwidth_factor": str(report.least_factor),
        "bandwidth_optimal": report.optimal,
        "algbw": None if algbw is None else str(algbw),
        "algbw_float": None if algbw is None else float(algbw),
        "unit": schedule.topology.bandwidth_unit,
        "reduction_factor": str(reduction_factor(schedule)),
        "transfers": len(schedule),
    } | ({} if schedule.ranks is None else {"ranks": schedule.topology.ids(schedule.ranks)})


def verified_page(schedule: StepSchedule, report: "StepReport", file: Path) -> Page:
    """Return the page of a valid step schedule that was read from `file`."""
    topology = schedule.topology
    place = f"{topology.name}, {counted(topology, schedule.ranks)}"
    title = f"{input_name(file)}: valid: {schedule.collective.value} in steps on {place}"
    return Page(title, (labelled(step_rows(schedule, report)),), valid=True)


def step_rows(schedule: StepSchedule, report: "StepReport") -> list[tuple[str, str]]:
    """Return the rows about what a valid step schedule achieves."""
    factor, least = report.bandwidth_factor, report.least_factor
    if factor is None or least is None:
        return [("steps", str(schedule.steps))]
    hops = "" if len(schedule.routes) else ", in hops"
    optimal = "the minimum" if report.optimal else f"the lower bound is {least} ({float(least):.4g})"
    rows = [
        ("steps", f"{schedule.steps} (T_L{hops})"),
        ("bandwidth", f"{factor} ({float(factor):.4g}) M/B (T_B); {optimal}"),
    ]
    if report.algbw is not None:
        rows.append(("algbw", f"{bandwidth(report.algbw, schedule.topology.bandwidth_unit)} for large data"))
    adding = reduction_factor(schedule)
    if adding:
        rows.append(("reduction", f"{adding} ({float(adding):.4g}) M/R (T_C), where a node adds up R GB/s"))
    rows.append(("transfers", f"{len(schedule)}{_images(schedule)}"))
    if len(schedule.routes):
        rows.append(("routes", f"{len(schedule.routes)} (of up to {max(map(len, schedule.routes)) - 1} links)"))
    return rows


def _images(schedule: StepSchedule) -> str:
    return "" if schedule.symmetry is None else f" listed, {schedule.symmetry.order} images each"
