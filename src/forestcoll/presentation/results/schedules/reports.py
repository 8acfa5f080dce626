"""Verified schedules as pages and as JSON. The table `PRESENTERS` lists the kinds of schedules."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forestcoll.base.files import input_name
from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.flows import flow_document, flow_rows
from forestcoll.presentation.results.schedules.groups import bundle_document, bundle_rows, bundle_title
from forestcoll.presentation.results.schedules.series import verified_document as series_document
from forestcoll.presentation.results.schedules.series import verified_page as series_page
from forestcoll.presentation.results.schedules.steps import step_document
from forestcoll.presentation.results.schedules.steps import verified_page as step_page
from forestcoll.presentation.results.schedules.trees import shape_document, shape_rows, traffic_document, traffic_rows
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification import BundleReport, Fault, FlowReport, Report, TreeReport


@dataclass(frozen=True)
class Presenter:
    """How reports of one kind of schedule are presented.

    Attributes:
        page: returns the page of a schedule, its report, and the file that it was read from.
        document: returns the JSON keys of a schedule and its report.
    """

    page: Callable[[Any, Any, Path], Page]
    document: Callable[[Any, Any], dict[str, object]]


def verified_page(schedule: Schedule, report: Report, file: Path) -> Page:
    """Return the page of a valid schedule.

    Args:
        schedule: the schedule.
        report: the result of `verify`, without a fault.
        file: the file that the schedule was read from.
    """
    return PRESENTERS.get(type(schedule), _ANY).page(schedule, report, file)


def verified_document(schedule: Schedule, report: Report) -> dict[str, object]:
    """Return the JSON object of a valid schedule; the arguments are those of `verified_page`."""
    return {"valid": True} | PRESENTERS.get(type(schedule), _ANY).document(schedule, report)


def refusal_document(fault: Fault | None, message: str) -> dict[str, object]:
    """Return the JSON object of a schedule that breaks a rule or, without a `fault`, of a file without a schedule."""
    return {"valid": False, "rule": None if fault is None else fault.rule, "message": message}


def _what(schedule: Schedule) -> str:
    outward = {Collective.BROADCAST, Collective.SCATTER}
    preposition = "from" if schedule.collective in outward else "to"
    root = "" if schedule.root is None else f" {preposition} {schedule.topology.nodes[schedule.root].id}"
    place = f"{schedule.topology.name}, {counted(schedule.topology, schedule.ranks)}"
    return f"{schedule.collective.value}{root} on {place}"


def _title(schedule: Schedule, file: Path) -> str:
    return f"{input_name(file)}: valid: {_what(schedule)}"


def _claim_rows(schedule: Schedule, report: Report) -> list[tuple[str, str]]:
    """Return the rows about the achieved algbw and the proven bound."""
    unit, bound = schedule.topology.bandwidth_unit, schedule.bound
    rows = [] if report.algbw is None else [("algbw", bandwidth(report.algbw, unit))]
    if bound is None:
        return [*rows, ("optimum", "not claimed")]
    source = "the cut" if isinstance(bound.proof, CutProof) else f"the proof of kind {bound.proof.kind!r}"
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
    return Page(_title(schedule, file), (labelled(_claim_rows(schedule, report)),), valid=True)


def _tree_page(schedule: TreeSchedule, report: TreeReport, file: Path) -> Page:
    rows = [*_claim_rows(schedule, report), *shape_rows(schedule), *traffic_rows(schedule)]
    return Page(_title(schedule, file), (labelled(rows),), valid=True)


def _tree_document(schedule: TreeSchedule, report: TreeReport) -> dict[str, object]:
    document = _claim_document(schedule, report) | shape_document(schedule) | traffic_document(schedule)
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.root is not None:
        document["root"] = schedule.topology.nodes[schedule.root].id
    return document


def _flow_page(schedule: FlowSchedule, report: FlowReport, file: Path) -> Page:
    rows = [*_claim_rows(schedule, report), *flow_rows(schedule)]
    return Page(_title(schedule, file), (labelled(rows),), valid=True)


def _flow_document(schedule: FlowSchedule, report: FlowReport) -> dict[str, object]:
    document = _claim_document(schedule, report) | flow_document(schedule)
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.root is not None:
        document["root"] = schedule.topology.nodes[schedule.root].id
    return document


def _bundle_page(schedule: BundleSchedule, report: BundleReport, file: Path) -> Page:
    rows = [*_claim_rows(schedule, report), *bundle_rows(schedule, report)]
    return Page(f"{input_name(file)}: valid: {bundle_title(schedule)}", (labelled(rows),), valid=True)


def schedule_page(schedule: Schedule) -> Page:
    """Return the page of a schedule that was not verified: what it claims."""
    rows = [] if schedule.algbw is None else [("algbw", bandwidth(schedule.algbw, schedule.topology.bandwidth_unit))]
    if schedule.bound is not None:
        rows.append(("bound", bandwidth(schedule.bound.algbw, schedule.topology.bandwidth_unit)))
    return Page(
        _what(schedule), (labelled([*rows, ("kind", schedule.kind), ("verified", "no; call verify(schedule)")]),)
    )


def report_page(report: Report) -> Page:
    """Return the page of a report."""
    if report.fault is not None:
        return Page("invalid", (labelled([("rule", report.fault.rule), ("fault", report.fault.message)]),), valid=False)
    rows = [] if report.algbw is None else [("algbw", str(report.algbw))]
    if report.bound is not None:
        rows.append(("bound", f"{report.bound.algbw}, proven by a proof of kind {report.bound.proof.kind}"))
    return Page("valid", (labelled([*rows, ("optimal", "yes" if report.optimal else "not proven")]),), valid=True)


_ANY = Presenter(_page, _claim_document)
"""The presenter of kinds without an entry in `PRESENTERS`."""

PRESENTERS: dict[type[Schedule], Presenter] = {
    TreeSchedule: Presenter(_tree_page, _tree_document),
    StepSchedule: Presenter(step_page, step_document),
    SeriesSchedule: Presenter(series_page, series_document),
    FlowSchedule: Presenter(_flow_page, _flow_document),
    BundleSchedule: Presenter(_bundle_page, bundle_document),
}
"""The presenter of each kind of schedule that has its own figures."""
