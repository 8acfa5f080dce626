"""What `generate` makes, as a page and as JSON: of trees, flows, steps and groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forestcoll.algorithms.method import Generated
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.optima import words_of
from forestcoll.presentation.results.schedules.reports import verified_document, verified_page
from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.presentation.text import path_text, stage_document, stage_times, written_to
from forestcoll.verification import Report


@dataclass(frozen=True)
class Run:
    """What a run of `generate` did.

    Attributes:
        method: the name of the method.
        output: the file that was written; None if none was.
        seconds: the time of each stage.
        counters: the counters of the run.
        verbose: whether the page shows the counters.
    """

    method: str
    output: Path | None
    seconds: Mapping[str, float]
    counters: Mapping[str, int]
    verbose: bool = False

    def document(self) -> dict[str, object]:
        """Return the JSON keys about the run."""
        seconds = stage_document(self.seconds)
        return {"output": path_text(self.output), "seconds": seconds, "counters": dict(self.counters)}

    def rows(self, checked: str) -> list[tuple[str, str]]:
        """Return the rows about the run; `checked` is what the verification looked at."""
        found = [("verified", checked), ("time", stage_times(self.seconds))]
        if self.verbose:
            counters = (f"{name.replace('_', ' ')} {count}" for name, count in self.counters.items())
            found.append(("counters", ", ".join(counters)))
        return [*found, ("written", written_to(self.output))]


def generated_document(made: Generated, report: Report, run: Run) -> dict[str, object]:
    """Return the JSON object of a schedule that was generated, with the report of its verification."""
    if made.optimum is not None:
        found: dict[str, object] = words_of(made.optimum).generated_document(made.optimum, made.schedule)
        return found | run.document()
    document = verified_document(made.schedule, report)
    del document["valid"]
    return document | {"method": run.method, "verified": True} | run.document()


def generated_page(made: Generated, report: Report, run: Run) -> Page:
    """Return the page of a schedule that was generated, with the report of its verification."""
    schedule, topology = made.schedule, made.schedule.topology
    if made.optimum is not None:
        rows = run.rows("delivery, loads, algbw and the proof of the bound")
        page: Page = words_of(made.optimum).generated_page(made.optimum, schedule, rows)
        return page
    title = f"{topology.name}: {schedule.collective.value} by {run.method} over {counted(topology, schedule.ranks)}"
    tables = [each for each in verified_page(schedule, report, Path()).blocks if isinstance(each, Table)]
    found = [(str(name), str(value)) for table in tables for name, value in table.rows]
    return Page(title, (labelled([*found, *run.rows("delivery, loads and algbw")]),))
