"""Verified schedules as pages and as JSON, in the words of their kind.

The words of a kind are in the file of this folder that has the name of its folder in `schedule/`: a function
`verified_page` and a function `verified_document`. A kind without a file has the words of `claims`.
"""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestcoll.presentation.results.schedules.claims import what
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth
from forestcoll.schedule.schedule import Schedule

if TYPE_CHECKING:
    from forestcoll.verification import Fault, Report


def verified_page(schedule: Schedule, report: "Report", file: Path) -> Page:
    """Return the page of a valid schedule.

    Args:
        schedule: the schedule.
        report: the result of `verify`, without a fault.
        file: the file that the schedule was read from.
    """
    page: Page = _words_of(schedule).verified_page(schedule, report, file)
    return page


def verified_document(schedule: Schedule, report: "Report") -> dict[str, object]:
    """Return the JSON object of a valid schedule; the arguments are those of `verified_page`."""
    document: dict[str, object] = _words_of(schedule).verified_document(schedule, report)
    return {"valid": True} | document


def checked_of(schedule: Schedule) -> str:
    """Return what the verification of a schedule looked at."""
    return getattr(_words_of(schedule), "CHECKED", "delivery, loads and algbw")


def _words_of(schedule: Schedule) -> Any:
    """Return the module with the words of a kind of schedule; those of other kinds are not imported."""
    folder = type(schedule).__module__.split(".")[-2:-1]
    own = f"{__package__}.{''.join(folder)}"
    has_own = bool(folder) and importlib.util.find_spec(own) is not None
    return importlib.import_module(own if has_own else f"{__package__}.claims")


def refusal_document(fault: "Fault | None", message: str) -> dict[str, object]:
    """Return the JSON object of a schedule that breaks a rule or, without a `fault`, of a file without a schedule."""
    return {"valid": False, "rule": None if fault is None else fault.rule, "message": message}


def schedule_page(schedule: Schedule) -> Page:
    """Return the page of a schedule that was not verified: what it claims."""
    rows = [] if schedule.algbw is None else [("algbw", bandwidth(schedule.algbw, schedule.topology.bandwidth_unit))]
    if schedule.bound is not None:
        rows.append(("bound", bandwidth(schedule.bound.algbw, schedule.topology.bandwidth_unit)))
    return Page(
        what(schedule), (labelled([*rows, ("kind", schedule.kind), ("verified", "no; call verify(schedule)")]),)
    )


def report_page(report: "Report") -> Page:
    """Return the page of a report."""
    if report.fault is not None:
        return Page("invalid", (labelled([("rule", report.fault.rule), ("fault", report.fault.message)]),), valid=False)
    rows = [] if report.algbw is None else [("algbw", str(report.algbw))]
    if report.bound is not None:
        rows.append(("bound", f"{report.bound.algbw}, proven by a proof of kind {report.bound.proof.kind}"))
    return Page("valid", (labelled([*rows, ("optimal", "yes" if report.optimal else "not proven")]),), valid=True)
