"""What a report is made of: a comparison, and what is computed from it for the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from forestcoll.comparison import Comparison, Row
from forestcoll.comparison.by_boxes import BoxCount, by_boxes
from forestcoll.comparison.comparing import OWN
from forestcoll.comparison.crossings import Crossing, LinkClass, Loads
from forestcoll.presentation.answers import rival_of
from forestcoll.progress import Progress


@dataclass(frozen=True)
class Study:
    """A comparison and its details.

    Attributes:
        found: the comparison.
        command: the command that made it; None if it was not made by a command.
        counts: the optimum, rings and two levels for several numbers of boxes; empty if that is not known.
        into_boxes: the data that enters a box; None if the network has no boxes.
        over_cut: the data that leaves the bottleneck cut; None if the bound has another proof.
        classes: the classes of links, with how busy they are.
    """

    found: Comparison
    command: str | None
    counts: tuple[BoxCount, ...]
    into_boxes: Crossing | None
    over_cut: Crossing | None
    classes: tuple[LinkClass, ...]

    @staticmethod
    def of(found: Comparison, command: str | None, progress: Progress) -> "Study":
        """Return the study of a comparison."""
        counts, loads = by_boxes(found, progress), Loads(found)
        return Study(found, command, counts, loads.into_boxes(), loads.over_cut(), tuple(loads.classes()))

    @property
    def own(self) -> Row:
        """The row of the schedule that reaches the optimum."""
        return self.found.row(OWN)

    @property
    def others(self) -> list[Row]:
        """The other rows."""
        return [row for row in self.found.rows if row.name != OWN]

    @cached_property
    def rival(self) -> Row | None:
        """The row that the page compares with first."""
        return rival_of(self.found)

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """A short key for each row, by its name, for the script of the page."""
        return {row.name: f"r{place}" for place, row in enumerate(self.found.rows)}

    @property
    def has_times(self) -> bool:
        """Whether times were simulated."""
        return bool(self.found.rows[0].times)
