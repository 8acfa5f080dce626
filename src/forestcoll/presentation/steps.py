"""A schedule of steps in words and figures."""

from forestcoll.presentation import text
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification import StepReport


def step_document(schedule: StepSchedule, report: StepReport) -> dict[str, object]:
    """Return the JSON keys that describe a step schedule which is right."""
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


def step_title(schedule: StepSchedule, method: str | None = None) -> str:
    """Return the line above what is said of a step schedule."""
    what = f"{schedule.collective.value}{'' if method is None else f' by {method}'}"
    return f"{text.printable(schedule.topology.name)}: {what} over {len(schedule.topology.compute)} compute nodes"


def step_rows(schedule: StepSchedule, report: StepReport) -> list[tuple[str, str]]:
    """Return the rows that state what a step schedule which is right comes to."""
    factor, least = report.bandwidth_factor, report.least_factor
    if factor is None or least is None:
        return [("steps", str(schedule.steps))]
    optimal = "no schedule has less" if report.optimal else f"at least {least} ({float(least):.4g})"
    rows = [
        ("steps", f"{schedule.steps} (T_L, in hops)"),
        ("bandwidth", f"{factor} ({float(factor):.4g}) M/B (T_B); {optimal}"),
    ]
    if report.algbw is not None:
        rows.append(("algbw", f"{text.bandwidth(report.algbw, schedule.topology.bandwidth_unit)} for large data"))
    return [*rows, ("transfers", str(len(schedule)))]
