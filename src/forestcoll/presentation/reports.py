"""What is said of a schedule that was found right: rows, lines and JSON; the table `PRESENTERS` knows all kinds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forestcoll.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.series import verified_document as series_document
from forestcoll.presentation.series import verified_page as series_page
from forestcoll.presentation.steps import step_document
from forestcoll.presentation.steps import verified_page as step_page
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth, printable
from forestcoll.presentation.trees import shape_document, shape_rows, traffic_document, traffic_rows
from forestcoll.proof import CutProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification import Fault, Report, TreeReport


@dataclass(frozen=True)
class Presenter:
    """How reports of one kind of schedule are presented.

    Attributes:
        page: returns the page for a person; takes a schedule, its report, and the file that it was read from.
        document: returns the JSON keys; takes a schedule and its report.
    """

    page: Callable[[Any, Any, Path], Page]
    document: Callable[[Any, Any], dict[str, object]]


def verified_page(schedule: Schedule, report: Report, file: Path) -> Page:
    """Return what a person reads of a schedule that is right."""
    return PRESENTERS.get(type(schedule), _ANY).page(schedule, report, file)


def verified_document(schedule: Schedule, report: Report) -> dict[str, object]:
    """Return the JSON of a schedule that is right."""
    return {"valid": True} | PRESENTERS.get(type(schedule), _ANY).document(schedule, report)


def refusal_document(fault: Fault | None, message: str) -> dict[str, object]:
    """Return the JSON of a schedule that breaks a rule or, without a `fault`, of what is no schedule."""
    return {"valid": False, "rule": None if fault is None else fault.rule, "message": message}


def _what(schedule: Schedule) -> str:
    way = {Collective.BROADCAST: "from", Collective.REDUCE: "to"}.get(schedule.collective)
    root = "" if schedule.root is None else f" {way} {printable(schedule.topology.nodes[schedule.root].id)}"
    place = f"{printable(schedule.topology.name)}, {counted(schedule.topology, schedule.ranks)}"
    return f"{schedule.collective.value}{root} on {place}"


def _title(schedule: Schedule, file: Path) -> str:
    return f"{file}: right: {_what(schedule)}"


def _claim_rows(schedule: Schedule, report: Report) -> list[tuple[str, str]]:
    """Return the rows about what is achieved, and what is proven of the optimum."""
    unit, bound = schedule.topology.bandwidth_unit, schedule.bound
    rows = [] if report.algbw is None else [("algbw", bandwidth(report.algbw, unit))]
    if bound is None:
        return [*rows, ("optimum", "not claimed")]
    source = "the cut" if isinstance(bound.proof, CutProof) else f"the proof by {bound.proof.kind}"
    if report.optimal:
        which = "schedule along trees" if bound.proof.trees_only else "schedule"
        return [*rows, ("optimum", f"reached; {source} in the file proves that no {which} is faster")]
    name = "bound" if schedule.collective is Collective.ALLREDUCE else "optimum"
    return [*rows, (name, f"{bandwidth(bound.algbw, unit)}, proven by {source} in the file")]


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


def _page(schedule: Schedule, report: Report, file: Path) -> Page:
    return Page(_title(schedule, file), (labelled(_claim_rows(schedule, report)),), right=True)


def _tree_page(schedule: TreeSchedule, report: TreeReport, file: Path) -> Page:
    rows = [*_claim_rows(schedule, report), *shape_rows(schedule), *traffic_rows(schedule)]
    return Page(_title(schedule, file), (labelled(rows),), right=True)


def _tree_document(schedule: TreeSchedule, report: TreeReport) -> dict[str, object]:
    document = _claim_document(schedule, report) | shape_document(schedule) | traffic_document(schedule)
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.root is not None:
        document["root"] = schedule.topology.nodes[schedule.root].id
    return document


def schedule_page(schedule: Schedule) -> Page:
    """Return what a schedule claims, without a judgement."""
    rows = [] if schedule.algbw is None else [("algbw", bandwidth(schedule.algbw, schedule.topology.bandwidth_unit))]
    if schedule.bound is not None:
        rows.append(("bound", bandwidth(schedule.bound.algbw, schedule.topology.bandwidth_unit)))
    return Page(_what(schedule), (labelled([*rows, ("kind", schedule.kind), ("judged", "no: verify(schedule)")]),))


def report_page(report: Report) -> Page:
    """Return the judgement of a schedule."""
    if report.fault is not None:
        return Page("wrong", (labelled([("rule", report.fault.rule), ("fault", report.fault.message)]),), right=False)
    rows = [] if report.algbw is None else [("algbw", str(report.algbw))]
    if report.bound is not None:
        rows.append(("bound", f"{report.bound.algbw}, proven by a proof of kind {report.bound.proof.kind}"))
    return Page("right", (labelled([*rows, ("optimal", "yes" if report.optimal else "not proven")]),), right=True)


_ANY = Presenter(_page, _claim_document)
"""For kinds without an entry of their own."""

PRESENTERS: dict[type[Schedule], Presenter] = {
    TreeSchedule: Presenter(_tree_page, _tree_document),
    StepSchedule: Presenter(step_page, step_document),
    SeriesSchedule: Presenter(series_page, series_document),
}
"""The presenter of each kind that has more to say than all kinds."""
