"""An exhibit: a table, a figure or a theorem of a paper, what it prints, and the function that makes it again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from matplotlib.figure import Figure


class Verdict(StrEnum):
    """How the result of forestcoll compares with what the paper prints."""

    SAME = "same"
    """All printed values are reached, and none is exceeded."""
    BETTER = "better"
    """All printed values are reached, and some are exceeded."""
    DIFFERS = "differs"
    """Some values are not those of the paper; the summary says which, and why."""
    NOT_HAD = "not had"
    """The exhibit cannot be made here; the summary says why."""


class Cost(StrEnum):
    """How long an exhibit takes, and whether it is the same every time."""

    QUICK = "quick"
    """At most about a second. The tests make it again."""
    SLOW = "slow"
    """Up to minutes. The slow tests make it again."""
    TIMED = "timed"
    """It contains measured times, which differ from run to run."""


@dataclass(frozen=True)
class Settings:
    """How exhibits are made.

    Attributes:
        folder: the folder for results that are kept between runs.
        largest: the maximum number of nodes or GPUs of the exhibits that grow with it.
    """

    folder: Path
    largest: int = 1024


@dataclass(frozen=True)
class Result:
    """What was made for an exhibit.

    Attributes:
        verdict: how it compares with the paper.
        summary: one or two sentences about the comparison, for the index too. Its numbers are computed.
        lines: the tables, as lines of Markdown.
        figure: a picture; None if there is none.
    """

    verdict: Verdict
    summary: str
    lines: Sequence[str] = ()
    figure: Figure | None = None


@dataclass(frozen=True)
class Exhibit:
    """A table, a figure or a theorem of a paper.

    Attributes:
        number: its number in the paper, such as "Table 1". "Theorems 2 to 12" and
            "Figures 8 and 9" cover several.
        claim: what the paper prints, in one or two sentences.
        make: makes it again; None if it cannot be had.
        why_not: why it cannot be had; empty if it can.
        cost: how long it takes.
    """

    number: str
    claim: str
    make: Callable[[Settings], Result] | None = None
    why_not: str = ""
    cost: Cost = Cost.QUICK

    @property
    def anchor(self) -> str:
        """The name of its heading in links."""
        return self.number.lower().replace(" ", "-").replace(".", "")

    def result(self, settings: Settings) -> Result:
        """Return what `make` makes, or why it cannot be had."""
        if self.make is None:
            return Result(Verdict.NOT_HAD, self.why_not)
        return self.make(settings)


@dataclass(frozen=True)
class Paper:
    """A paper with its exhibits, which is one page.

    Attributes:
        name: the name of the page.
        title: the heading of the page.
        source: the paper.
        remarks: what holds for all exhibits of the page, in sentences.
        exhibits: the exhibits, in the order of the page.
    """

    name: str
    title: str
    source: str
    remarks: str
    exhibits: tuple[Exhibit, ...]


def drawing(number: str, subject: str) -> Exhibit:
    """Return the exhibit of a figure or table without values."""
    return Exhibit(number, f"It shows {subject}.", why_not="It explains and has no values to compare.")


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1) -> list[str]:
    """Return a table of Markdown whose first `left` columns have text, and the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(heads) - left)
    return [_row(heads), _row(marks), *map(_row, rows)]


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def verdict_of(*, same: bool, better: bool = False) -> Verdict:
    """Return the verdict: `same` is whether all printed values are reached, `better` whether some are exceeded."""
    if not same:
        return Verdict.DIFFERS
    return Verdict.BETTER if better else Verdict.SAME
