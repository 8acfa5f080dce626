"""The heights of the trees of a series of broadcasts."""

from dataclasses import dataclass

from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class SeriesShape(Shape):
    """The shape of a series.

    Attributes:
        height: the most links from the source to a node, over all trees.
        trees: the number of trees.
        rounds: the number of rounds of a period.
    """

    height: int
    trees: int
    rounds: int

    @property
    def hops(self) -> int:
        return self.height

    @property
    def sends(self) -> int:
        return self.height


def series_shape(schedule: SeriesSchedule) -> SeriesShape:
    """Return the shape of `schedule`."""
    return SeriesShape(schedule.height, len(schedule.trees), len(schedule.rounds))
