"""What is said of a schedule that was found right: rows, lines and JSON; the table `PRESENTERS` knows all kinds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forestcoll.collective import Collective
from forestcoll.presentation import schedule as schedule_words
from forestcoll.presentation import text
from forestcoll.presentation.series import verified_document as series_document
from forestcoll.presentation.series import verified_lines as series_lines
from forestcoll.presentation.steps import step_document, step_rows
from forestcoll.proof import CutProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.shapes import shape_of
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification import Fault, Report, StepReport, TreeReport


@dataclass(frozen=True)
class Presenter:
    """How reports of one kind of schedule are presented.

    Attributes:
        lines: returns the lines for a person, of a schedule, its report and the file that it was read from.
        document: returns the JSON keys, of a schedule and its report.
    """

    lines: Callable[[Any, Any, Path], list[str]]
    document: Callable[[Any, Any], dict[str, object]]


def verified_lines(schedule: Schedule, report: Report, file: Path) -> list[str]:
    """Return what a person reads of a schedule that is right."""
    return PRESENTERS.get(type(schedule), _ANY).lines(schedule, report, file)


def verified_document(schedule: Schedule, report: Report) -> dict[str, object]:
    """Return the JSON of a schedule that is right."""
    return {"valid": True} | PRESENTERS.get(type(schedule), _ANY).document(schedule, report)


def refusal_document(fault: Fault | None, message: str) -> dict[str, object]:
    """Return the JSON of a schedule that breaks a rule or, without a `fault`, of what is no schedule."""
    return {"valid": False, "rule": None if fault is None else fault.rule, "message": message}


def _title(schedule: Schedule, file: Path, what: str = "") -> str:
    way = {Collective.BROADCAST: "from", Collective.REDUCE: "to"}.get(schedule.collective)
    nodes = schedule.topology.nodes
    root = "" if schedule.root is None else f" {way} {text.printable(nodes[schedule.root].id)}"
    place = f"{text.printable(schedule.topology.name)}, {text.counted(schedule.topology, schedule.ranks)}"
    return f"{file}: right: {schedule.collective.value}{root}{what} on {place}"


def _claim_rows(schedule: Schedule, report: Report) -> list[tuple[str, str]]:
    """Return the rows about what is achieved, and what is proven of the optimum."""
    unit, bound = schedule.topology.bandwidth_unit, schedule.bound
    rows = [] if report.algbw is None else [("algbw", text.bandwidth(report.algbw, unit))]
    if bound is None:
        return [*rows, ("optimum", "not claimed")]
    source = "the cut" if isinstance(bound.proof, CutProof) else f"the proof by {bound.proof.kind}"
    if report.optimal:
        which = "schedule along trees" if bound.proof.trees_only else "schedule"
        return [*rows, ("optimum", f"reached; {source} in the file proves that no {which} is faster")]
    name = "bound" if schedule.collective is Collective.ALLREDUCE else "optimum"
    return [*rows, (name, f"{text.bandwidth(bound.algbw, unit)}, proven by {source} in the file")]


def _claim_document(schedule: Schedule, report: Report) -> dict[str, object]:
    document: dict[str, object] = {
        "collective": schedule.collective.value,
        "topology": schedule.topology.name,
        "compute_nodes": len(schedule.members),
        "algbw": None if report.algbw is None else str(report.algbw),
        "optimal_algbw": None if schedule.bound is None else str(schedule.bound.algbw),
        "optimal": report.optimal,
        "unit": schedule.topology.bandwidth_unit,
    }
    return document


def _lines(schedule: Schedule, report: Report, file: Path) -> list[str]:
    return [_title(schedule, file), *text.table(_claim_rows(schedule, report))]


def _tree_lines(schedule: TreeSchedule, report: TreeReport, file: Path) -> list[str]:
    shape, traffic = schedule_words.shape_rows(shape_of(schedule)), schedule_words.traffic_rows(traffic_of(schedule))
    return [_title(schedule, file), *text.table([*_claim_rows(schedule, report), *shape, *traffic])]


def _tree_document(schedule: TreeSchedule, report: TreeReport) -> dict[str, object]:
    shape = shape_of(schedule)
    document = _claim_document(schedule, report) | {
        "trees": shape.trees,
        "base_trees": shape.base_trees,
        "group_order": shape.group_order,
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
    }
    document |= schedule_words.traffic_document(traffic_of(schedule))
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.root is not None:
        document["root"] = schedule.topology.nodes[schedule.root].id
    return document


def _step_lines(schedule: StepSchedule, report: StepReport, file: Path) -> list[str]:
    return [_title(schedule, file, " in steps"), *text.table(step_rows(schedule, report))]


_ANY = Presenter(_lines, _claim_document)
"""For kinds without an entry of their own."""

PRESENTERS: dict[type[Schedule], Presenter] = {
    TreeSchedule: Presenter(_tree_lines, _tree_document),
    StepSchedule: Presenter(_step_lines, step_document),
    SeriesSchedule: Presenter(series_lines, series_document),
}
"""The presenter of each kind that has more to say than all kinds."""
