"""Measured times of a schedule by message size."""

from dataclasses import dataclass
from math import isfinite

from forestcoll.base.errors import InputError, shown
from forestcoll.schedule.schedule import Schedule


@dataclass(frozen=True)
class MeasuredTimes:
    """The measured times of one schedule.

    Attributes:
        name: what output calls the schedule.
        schedule: the schedule that ran.
        sizes: the sizes M, in bytes.
        seconds: for each size, the measured time.

    Raises:
        InputError: there is no time, or a size or time is not greater than 0.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.measurement import MeasuredTimes
        >>> times = MeasuredTimes("ring", generate("ring:nodes=4"), (2**20, 2**30), (0.0005, 0.41))
        >>> len(times.sizes)
        2
    """

    name: str
    schedule: Schedule
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.sizes or len(self.sizes) != len(self.seconds):
            raise InputError(
                f"{self.name}: {len(self.sizes)} sizes and {len(self.seconds)} times; give a time for each size"
            )
        for size, seconds in zip(self.sizes, self.seconds, strict=True):
            if size < 1 or not isfinite(seconds) or seconds <= 0:
                raise InputError(f"{self.name}: {size} bytes in {shown(seconds)} seconds; both must be greater than 0")
