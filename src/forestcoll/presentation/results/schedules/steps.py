"""A step schedule as a page and as JSON: after it was generated, and after it was verified."""

from collections.abc import Mapping
from pathlib import Path

from forestcoll.base.files import input_name
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth, path_text, stage_document, stage_times, written_to
from forestcoll.schedule.steps.shape import reduction_factor
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification import StepReport


def step_document(schedule: StepSchedule, report: StepReport) -> dict[str, object]:
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


def generated_document(
    schedule: StepSchedule, report: StepReport, method: str, output: Path | None, seconds: Mapping[str, float]
) -> dict[str, object]:
    """Return the JSON object of a generated step schedule.

    Args:
        schedule: the schedule.
        report: the result of `verify`, without a fault.
        method: the name of the method that generated it.
        output: the file that was written; None if none was.
        seconds: the time of each stage of the run.
    """
    return step_document(schedule, report) | {
        "method": method,
        "verified": True,
        "output": path_text(output),
        "seconds": stage_document(seconds),
    }


def generated_page(
    schedule: StepSchedule, report: StepReport, method: str, output: Path | None, seconds: Mapping[str, float]
) -> Page:
    """Return the page of a generated step schedule; the arguments are those of `generated_document`."""
    topology = schedule.topology
    rows = [
        *step_rows(schedule, report),
        ("verified", "senders have what they send, all shards arrive, loads are exact"),
        ("time", stage_times(seconds)),
        ("written", written_to(output)),
    ]
    what = f"{schedule.collective.value} by {method} over {counted(topology, schedule.ranks)}"
    return Page(f"{topology.name}: {what}", (labelled(rows),))


def verified_page(schedule: StepSchedule, report: StepReport, file: Path) -> Page:
    """Return the page of a valid step schedule that was read from `file`."""
    topology = schedule.topology
    place = f"{topology.name}, {counted(topology, schedule.ranks)}"
    title = f"{input_name(file)}: valid: {schedule.collective.value} in steps on {place}"
    return Page(title, (labelled(step_rows(schedule, report)),), valid=True)


def step_rows(schedule: StepSchedule, report: StepReport) -> list[tuple[str, str]]:
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
