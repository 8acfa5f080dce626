"""What a report is made of: a comparison, and what is computed from it for the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from forestcoll.algorithms.baseline import OWN
from forestcoll.base.progress import Progress
from forestcoll.comparison import Comparison, Row
from forestcoll.comparison.busy import LinkClassLoad, busy_classes
from forestcoll.comparison.by_boxes import BoxCount, by_boxes
from forestcoll.presentation.results.comparisons.answers import rival_of
from forestcoll.presentation.results.comparisons.comparison_notebook import keys_of


@dataclass(frozen=True)
class ComparisonDetails:
    """A comparison and its details.

    Attributes:
        found: the comparison.
        command: the command that made it; None if it was not made by a command.
        counts: the optimum, rings and two levels for several numbers of boxes; empty if that is not known.
        classes: the classes of links, with how busy they are under the own schedule and its rival.
    """

    found: Comparison
    command: str | None
    counts: tuple[BoxCount, ...]
    classes: tuple[LinkClassLoad, ...]

    @staticmethod
    def of(found: Comparison, command: str | None, progress: Progress) -> "ComparisonDetails":
        """Return the study of a comparison."""
        rival = rival_of(found)
        compared = [found.row(OWN), *([] if rival is None else [rival])]
        return ComparisonDetails(found, command, by_boxes(found, progress), tuple(busy_classes(found, compared)))

    @property
    def own(self) -> Row:
        """The row of the schedule that reaches the optimum."""
        return self.found.row(OWN)

    @property
    def others(self) -> list[Row]:
        """The other rows that have a schedule, and so pictures."""
        return [row for row in self.found.rows if row.name != OWN and row.schedule is not None]

    @cached_property
    def rival(self) -> Row | None:
        """The row that the page compares with first."""
        return rival_of(self.found)

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """A short key for each row, by its name, for the script of the page."""
        return keys_of(self.found)

    @property
    def sizes(self) -> list[int]:
        """The sizes for which times were simulated."""
        return [point.size for point in self.own.times]
