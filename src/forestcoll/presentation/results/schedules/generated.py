"""What `optimum` and `generate` return, as a page and as JSON, in the words of its kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from forestcoll.algorithms.method import Generated
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.reports import checked_of, verified_document, verified_page
from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.presentation.text import path_text, stage_document, stage_times, written_to
from forestcoll.schedule.proof.optimum import Optimum
from forestcoll.verification import Report

_WORDS = {"TreeOptimum": "optimum", "FlowOptimum": "flows", "GroupsOptimum": "groups"}
"""The file of this folder with the words for each kind of optimum."""


@dataclass(frozen=True)
class Run:
    """What a run of `generate` did.

    Attributes:
        method: the name of the method.
        output: the file that was written; None if none was.
        seconds: the time of each stage.
        counters: the counters of the run.
    """

    method: str
    output: Path | None
    seconds: Mapping[str, float]
    counters: Mapping[str, int]

    def document(self) -> dict[str, object]:
        """Return the JSON keys about the run."""
        seconds = stage_document(self.seconds)
        return {"output": path_text(self.output), "seconds": seconds, "counters": dict(self.counters)}

    def rows(self, checked: str) -> list[tuple[str, str]]:
        """Return the rows about the run; `checked` is what the verification looked at."""
        return [("verified", checked), ("time", stage_times(self.seconds)), ("written", written_to(self.output))]


def _words_of(best: Optimum) -> Any:
    """Return the module with the words for a kind of optimum; the others are not imported."""
    return import_module(f"{__package__}.{_WORDS[type(best).__name__]}")


def optimum_document(best: Optimum) -> dict[str, object]:
    """Return the JSON object of an optimum.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_document(optimum("ring:nodes=3"))["algbw"]
        '3'
    """
    document: dict[str, object] = _words_of(best).optimum_document(best)
    return document


def optimum_page(best: Optimum) -> Page:
    """Return the page of an optimum.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_page(optimum("ring:nodes=3")).title
        'ring:nodes=3: allgather over 3 compute nodes'
    """
    page: Page = _words_of(best).optimum_page(best)
    return page


def generated_document(made: Generated, report: Report, run: Run) -> dict[str, object]:
    """Return the JSON object of a schedule that was generated, with the report of its verification."""
    if made.optimum is not None:
        found: dict[str, object] = _words_of(made.optimum).generated_document(made.optimum, made.schedule)
        return found | run.document()
    document = verified_document(made.schedule, report)
    del document["valid"]
    return document | {"method": run.method, "verified": True} | run.document()


def generated_page(made: Generated, report: Report, run: Run) -> Page:
    """Return the page of a schedule that was generated, with the report of its verification."""
    schedule, topology = made.schedule, made.schedule.topology
    if made.optimum is not None:
        rows = run.rows("delivery, loads, algbw and the proof of the bound")
        page: Page = _words_of(made.optimum).generated_page(made.optimum, schedule, rows)
        return page
    title = f"{topology.name}: {schedule.collective.value} by {run.method} over {counted(topology, schedule.ranks)}"
    tables = [each for each in verified_page(schedule, report, Path()).blocks if isinstance(each, Table)]
    found = [(str(name), str(value)) for table in tables for name, value in table.rows]
    return Page(title, (labelled([*found, *run.rows(checked_of(schedule))]),))
