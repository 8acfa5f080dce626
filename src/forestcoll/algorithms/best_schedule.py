"""The best schedule for a size as a value, and what follows for a range of sizes; `by_size` finds them."""

from dataclasses import dataclass

from forestcoll.schedule.proof.optimum import CollectiveOptimum
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Point


@dataclass(frozen=True)
class BestSchedule:
    """The best schedule for one size.

    Attributes:
        method: the text of the method that makes it.
        schedule: the schedule.
        point: its simulated time.
        bound_us: the time that no schedule is faster than, in microseconds.

    Example:
        >>> from forestcoll.algorithms.by_size import BySize
        >>> from forestcoll.algorithms.generate import problem_of
        >>> best = BySize(problem_of("dgx-a100:boxes=2")).at(2**20)
        >>> best.method, round(best.point.seconds * 1e6), round(best.bound_us)
        ('two-level', 17, 14)
    """

    method: str
    schedule: Schedule
    point: Point
    bound_us: float

    @property
    def share(self) -> float:
        """The lower bound of the time as a part of the time."""
        return min(1.0, self.bound_us / (self.point.seconds * 1e6))


@dataclass(frozen=True)
class SizeRange:
    """Sizes with the same best schedule.

    Attributes:
        least: the least size, in bytes.
        most: the greatest size.
        best: the best schedule, with its time for the greatest size.
    """

    least: int
    most: int
    best: BestSchedule


@dataclass(frozen=True)
class BestOverSizes:
    """One schedule for several sizes.

    Attributes:
        best: the schedule, with its time for the greatest size.
        loss: by which part its time exceeds the best one, on average.
        ranges: the best schedules, in ascending order of sizes.
        overtaken: the power of two from which the optimum for large data is faster; None if it is not.
        optimum: the optimum for large data.
    """

    best: BestSchedule
    loss: float
    ranges: tuple[SizeRange, ...]
    overtaken: int | None
    optimum: CollectiveOptimum


@dataclass(frozen=True)
class OptimumFrom:
    """From which size on the optimum for large data is the best.

    Attributes:
        size: the size, in bytes; None if another schedule is faster for all sizes.
        below: a faster schedule for half of this size; None if there is none for any smaller size.
        point: the time of the optimum for the size of `below`.
    """

    size: int | None
    below: BestSchedule | None
    point: Point
