"""A schedule of steps in words and figures: after it was generated, and after it was verified."""

from collections.abc import Mapping
from pathlib import Path

from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth, path_text, printable, stage_document, stage_times, written_to
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification import StepReport


def step_document(schedule: StepSchedule, report: StepReport) -> dict[str, object]:
    """Return the JSON keys that describe a correct step schedule."""
    algbw = report.algbw
    return {
        "topology": schedule.topology.name,
        "collective": schedule.collective.value,
        "compute_nodes": len(schedule.topology.compute),
        "steps": schedule.steps,
        "bandwidth_factor": str(report.bandwidth_factor),
        "least_bandwidth_factor": str(report.least_factor),
        "bandwidth_optimal": report.optimal,
        "algbw": None if algbw is None else str(algbw),
        "algbw_float": None if algbw is None else float(algbw),
        "unit": schedule.topology.bandwidth_unit,
        "transfers": len(schedule),
    }


def generated_document(
    schedule: StepSchedule, report: StepReport, method: str, output: Path | None, seconds: Mapping[str, float]
) -> dict[str, object]:
    """Return the JSON of a step schedule that `method` made, with what the run did."""
    return step_document(schedule, report) | {
        "method": method,
        "verified": True,
        "output": path_text(output),
        "seconds": stage_document(seconds),
    }


def generated_page(
    schedule: StepSchedule, report: StepReport, method: str, output: Path | None, seconds: Mapping[str, float]
) -> Page:
    """Return what a person reads of a step schedule that `method` made."""
    topology = schedule.topology
    rows = [
        *step_rows(schedule, report),
        ("verified", "each part is held before it is sent, each shard arrives, loads are exact"),
        ("time", stage_times(seconds)),
        ("written", written_to(output)),
    ]
    what = f"{schedule.collective.value} by {method} over {len(topology.compute)} compute nodes"
    return Page(f"{printable(topology.name)}: {what}", (labelled(rows),))


def verified_page(schedule: StepSchedule, report: StepReport, file: Path) -> Page:
    """Return what a person reads of a step schedule in a file that was found correct."""
    topology = schedule.topology
    place = f"{printable(topology.name)}, {len(topology.compute)} compute nodes"
    title = f"{file}: right: {schedule.collective.value} in steps on {place}"
    return Page(title, (labelled(step_rows(schedule, report)),), right=True)


def step_rows(schedule: StepSchedule, report: StepReport) -> list[tuple[str, str]]:
    """Return labels and values of what a correct step schedule achieves."""
    factor, least = report.bandwidth_factor, report.least_factor
    if factor is None or least is None:
        return [("steps", str(schedule.steps))]
    optimal = "no schedule has less" if report.optimal else f"at least {least} ({float(least):.4g})"
    rows = [
        ("steps", f"{schedule.steps} (T_L, in hops)"),
        ("bandwidth", f"{factor} ({float(factor):.4g}) M/B (T_B); {optimal}"),
    ]
    if report.algbw is not None:
        rows.append(("algbw", f"{bandwidth(report.algbw, schedule.topology.bandwidth_unit)} for large data"))
    return [*rows, ("transfers", str(len(schedule)))]
