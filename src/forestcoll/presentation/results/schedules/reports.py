"""Verified schedules as pages, in the words of their kind.

The words of a kind are in the file of this folder that has the name of its folder in `schedule/`: `what` names a
schedule, and `verified_rows` returns its rows. A kind without a file has the words of `claims`.
"""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forestcoll.base.files import input_name
from forestcoll.presentation.results.schedules.claims import what
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.schedule import Schedule

if TYPE_CHECKING:
    from forestcoll.verification import Report


def verified_page(schedule: Schedule, report: "Report", file: Path) -> Page:
    """Return the page of a valid schedule.

    Args:
        schedule: the schedule.
        report: the result of `verify`, without a fault.
        file: the file that the schedule was read from.
    """
    words = words_of(schedule)
    title = f"{input_name(file)}: valid: {words.what(schedule)}"
    return Page(title, (row(valid=True), *words.verified_rows(schedule, report)), valid=True)


def checked_of(schedule: Schedule) -> str:
    """Return what the verification of a schedule looked at."""
    return getattr(words_of(schedule), "CHECKED", "delivery, loads and algbw")


def words_of(schedule: Schedule) -> Any:
    """Return the module with the words of a kind of schedule; those of other kinds are not imported."""
    folder = type(schedule).__module__.split(".")[-2:-1]
    own = f"{__package__}.{''.join(folder)}"
    has_own = bool(folder) and importlib.util.find_spec(own) is not None
    return importlib.import_module(own if has_own else f"{__package__}.claims")


def refusal_page(message: str, rule: str | None = None) -> Page:
    """Return the page of a schedule that breaks a rule or, without a `rule`, of a file that was not understood."""
    return Page("invalid", (row(valid=False, rule=rule, message=message),), valid=False)


def schedule_page(schedule: Schedule) -> Page:
    """Return the page of a schedule that was not verified: what it claims."""
    unit, bound = schedule.topology.bandwidth_unit, schedule.bound
    rows = [] if schedule.algbw is None else [row("algbw", bandwidth(schedule.algbw, unit), algbw=schedule.algbw)]
    if bound is not None:
        rows.append(row("bound", bandwidth(bound.algbw, unit), optimal_algbw=bound.algbw))
    verified = row("verified", "no; call verify(schedule)", verified=False)
    return Page(what(schedule), (*rows, row("kind", schedule.kind, kind=schedule.kind), verified))


def _optimal(report: "Report") -> str:
    """Return whether a schedule is known to be optimal or, if not, its part of the bound."""
    if report.optimal or report.bound is None or report.algbw is None:
        return "yes" if report.optimal else "not proven"
    return f"not proven; {percent(report.algbw / report.bound.algbw)} of the bound"


def report_page(report: "Report") -> Page:
    """Return the page of a report."""
    if (fault := report.fault) is not None:
        rows = (row("rule", fault.rule, rule=fault.rule), row("fault", fault.message, message=fault.message))
        return Page("invalid", (row(valid=False), *rows), valid=False)
    found = [row(valid=True)]
    if report.algbw is not None:
        found.append(row("algbw", report.algbw, algbw=report.algbw))
    if (bound := report.bound) is not None:
        along = " for schedules of trees" * bound.proof.trees_only
        proven = f"{bound.algbw}{along}, proven by a proof of kind {bound.proof.kind}"
        found.append(row("bound", proven, optimal_algbw=bound.algbw))
    optimal = row("optimal", _optimal(report), optimal=report.optimal)
    return Page("valid", (*found, optimal), valid=True)
