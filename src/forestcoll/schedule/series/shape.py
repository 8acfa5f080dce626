"""How high the trees of a series of broadcasts are."""

from dataclasses import dataclass

from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.shape import Shape


@dataclass(frozen=True, slots=True)
class SeriesShape(Shape):
    """The shape of a series.

    Attributes:
        height: links from the source to the last node, over all trees.
        trees: how many trees there are.
        rounds: how many rounds a period has.
    """

    height: int
    trees: int
    rounds: int

    @property
    def hops(self) -> int:
        """As `Shape.hops`."""
        return self.height


def series_shape(schedule: SeriesSchedule) -> SeriesShape:
    """Return the shape of `schedule`."""
    return SeriesShape(schedule.height, len(schedule.trees), len(schedule.rounds))
