"""What `optimum` and `generate` return, as a page, in the words of its kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from forestcoll.algorithms.method import Generated
from forestcoll.presentation.by_size import choice_below, choice_rows, from_row, from_sentence
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules.claims import survival_rows
from forestcoll.presentation.results.schedules.reports import checked_of, words_of
from forestcoll.presentation.tables import Page, Row, Table, row
from forestcoll.presentation.text import all_written, times
from forestcoll.schedule.proof.optimum import Optimum
from forestcoll.verification import Report

_WORDS = {"TreeOptimum": "optimum", "FlowOptimum": "flows", "GroupsOptimum": "groups"}
"""The file of this folder with the words for each kind of optimum."""


@dataclass(frozen=True)
class Run:
    """What a run of `generate` did.

    Attributes:
        method: the name of the method.
        outputs: the files that were written, by their kinds.
        seconds: the time of each stage.
        counters: the counters of the run.
    """

    method: str
    outputs: Mapping[str, Path]
    seconds: Mapping[str, float]
    counters: Mapping[str, int]

    def rows(self, checked: str) -> list[Row]:
        """Return the rows about the run; `checked` is what the verification looked at."""
        return [
            row("verified", checked, verified=True),
            times(self.seconds),
            row(counters=self.counters),
            all_written(self.outputs),
        ]


def _words_of(best: Optimum) -> Any:
    """Return the module with the words for a kind of optimum; the others are not imported."""
    return import_module(f"{__package__}.{_WORDS[type(best).__name__]}")


def optimum_page(best: Optimum) -> Page:
    """Return the page of an optimum.

    Example:
        >>> from forestcoll import optimum
        >>> page = optimum_page(optimum("ring:nodes=3"))
        >>> page.title, page.document()["algbw"]
        ('ring:nodes=3: allgather over 3 compute nodes', '3')
    """
    return _page(best, [])


def _page(best: Optimum, made: Sequence[Row]) -> Page:
    """Return the page of an optimum with the rows about a schedule that reaches it."""
    words = _words_of(best)
    return Page(words.title(best), (*words.rows(best), *made, *words.below(best)))


def generated_page(made: Generated, report: Report, run: Run) -> Page:
    """Return the page of a schedule that was generated, with the report of its verification."""
    best, schedule, topology = made.optimum, made.schedule, made.schedule.topology
    chosen = [] if made.choice is None else choice_rows(made.choice)
    below: tuple[Row | Table | str, ...] = () if made.choice is None else tuple(choice_below(made.choice))
    if made.best_from is not None:
        below = from_row(made.best_from), from_sentence(made.best_from)
    if best is not None:
        optimal = row(optimal=schedule.algbw == best.bound.algbw)
        checked = run.rows("delivery, loads, algbw and the proof of the bound")
        page = _page(best, [optimal, *_words_of(best).made_rows(schedule), *chosen, *checked])
        return replace(page, blocks=(*page.blocks, *below))
    if made.survival is not None:
        chosen = [row(method=run.method), *survival_rows(made.survival)]
    method = run.method if made.choice is None else made.choice.best.method
    title = f"{topology.name}: {schedule.collective.value} by {method} over {counted(topology, schedule.ranks)}"
    rows = words_of(schedule).verified_rows(schedule, report)
    return Page(title, (*rows, *(chosen or [row(method=method)]), *run.rows(checked_of(schedule)), *below))
