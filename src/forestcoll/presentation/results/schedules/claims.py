"""What verified schedules of all kinds say: the reached algbw, and the bound that a proof in the file states."""

from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.files import input_name
from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.schedule import Schedule

if TYPE_CHECKING:
    from forestcoll.verification import Report


def what(schedule: Schedule) -> str:
    """Return what a schedule does, and where."""
    outward = {Collective.BROADCAST, Collective.SCATTER}
    preposition = "from" if schedule.collective in outward else "to"
    root = "" if schedule.root is None else f" {preposition} {schedule.topology.nodes[schedule.root].id}"
    place = f"{schedule.topology.name}, {counted(schedule.topology, schedule.ranks)}"
    return f"{schedule.collective.value}{root} on {place}"


def title(schedule: Schedule, file: Path) -> str:
    """Return the first line of the page of a valid schedule."""
    return f"{input_name(file)}: valid: {what(schedule)}"


def claim_rows(schedule: Schedule, report: "Report") -> list[tuple[str, str]]:
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


def claim_document(schedule: Schedule, report: "Report") -> dict[str, object]:
    """Return the JSON keys of a verified schedule that all kinds have."""
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


def verified_page(schedule: Schedule, report: "Report", file: Path) -> Page:
    """Return the page of a valid schedule of a kind without words of its own."""
    return page_with(schedule, report, file, [])


def verified_document(schedule: Schedule, report: "Report") -> dict[str, object]:
    """Return the JSON keys of a valid schedule of a kind without words of its own."""
    return claim_document(schedule, report)


def page_with(schedule: Schedule, report: "Report", file: Path, rows: list[tuple[str, str]]) -> Page:
    """Return the page of a valid schedule, with more rows."""
    return Page(title(schedule, file), (labelled([*claim_rows(schedule, report), *rows]),), valid=True)


def document_with(schedule: Schedule, report: "Report", own: dict[str, object]) -> dict[str, object]:
    """Return the JSON keys of a valid schedule with its ranks, its root, and more keys."""
    document = claim_document(schedule, report) | own
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.root is not None:
        document["root"] = schedule.topology.nodes[schedule.root].id
    return document
