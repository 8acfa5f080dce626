"""Scales: they map values to positions in pixels, and choose the values of ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10, sqrt

from forestcoll.base.units import size_name

_STEPS = (1, 2, 5, 10)
_MOST_TICKS = 8


@dataclass(frozen=True)
class Linear:
    """A scale on which equal differences have equal lengths.

    Attributes:
        low: the value at `begin`.
        high: the value at `end`.
        begin: a position in pixels.
        end: a position in pixels.

    Example:
        >>> Linear(0, 50, 100, 0)(25)
        50.0
    """

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        return self.begin + (self.end - self.begin) * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Logarithmic:
    """A scale on which equal factors have equal lengths. The attributes are those of `Linear`, and `low` is positive.

    Example:
        >>> Logarithmic(1, 16, 0, 100)(4)
        50.0
    """

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value, which is positive."""
        if self.low == self.high:
            return (self.begin + self.end) / 2
        return self.begin + (self.end - self.begin) * log2(value / self.low) / log2(self.high / self.low)


@dataclass(frozen=True)
class SquareRoot:
    """A scale from 0 to `high` on which lengths are square roots, so that there is more room for small values.

    Example:
        >>> SquareRoot(100, 0, 50)(25)
        25.0
    """

    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value, which is not negative."""
        return self.begin + (self.end - self.begin) * sqrt(value / self.high)


Scale = Linear | Logarithmic | SquareRoot


def round_ticks(high: float, most: int = 6) -> list[float]:
    """Return at most `most` multiples of 1, 2 or 5 times a power of ten, from 0 up to `high`, which is positive.

    Example:
        >>> round_ticks(346.67)
        [0.0, 100.0, 200.0, 300.0]
        >>> round_ticks(0.8)
        [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    power = 10.0 ** floor(log10(high / most))
    step = next(power * each for each in _STEPS if floor(high / (power * each) + 1e-9) < most)
    return [round(place * step, 12) for place in range(floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round values for a logarithmic axis, the first at most `low` and the last at least `high`.

    Example:
        >>> log_ticks(3, 40), log_ticks(0.5, 4000), log_ticks(1, 1.03)
        ([2.0, 5.0, 10.0, 20.0, 50.0], [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0], [1.0, 1.01, 1.02, 1.03])
    """
    if high < 2 * low:
        step = round_ticks(max(high - low, low / 100))[1]
        first = floor(low / step + 1e-9)
        last = max(first + 1, ceil(high / step - 1e-9))
        return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    near = ticks[sum(tick <= low for tick in ticks) - 1 : sum(tick < high for tick in ticks) + 1]
    return near if len(near) <= _MOST_TICKS else [float(f"1e{power}") for power in powers]


def size_ticks(sizes: Sequence[int]) -> list[tuple[float, str]]:
    """Return at most seven of these sizes in bytes, with their names, for a logarithmic axis.

    The sizes are in ascending order. Sizes that are too near to each other are left out.

    Example:
        >>> size_ticks([1000, 1024, 2**20, 2**30])
        [(1000.0, '1KB'), (1048576.0, '1MiB'), (1073741824.0, '1GiB')]
    """
    apart = (sizes[-1] / sizes[0]) ** (1 / 6) * (1 - 1e-9)
    chosen = [sizes[0]]
    for size in sizes[1:]:
        if size >= chosen[-1] * apart:
            chosen.append(size)
    return [(float(size), size_name(size)) for size in chosen]


def thinned(values: Sequence[int], most: int) -> list[int]:
    """Return at most `most` of the values, at equal distances in the list, with the first one.

    Example:
        >>> thinned([1, 2, 4, 8, 16, 32, 64], 4)
        [1, 4, 16, 64]
    """
    return list(values[:: max(1, ceil(len(values) / most))])


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near `places` that are at least `gap` apart, from `low` to `high` if there is enough room.

    Example:
        >>> spread([10, 12, 50], 10, 0, 100)
        [10, 20, 50]
        >>> spread([98, 99], 10, 0, 100)
        [90, 100]
    """
    order = sorted(range(len(places)), key=lambda each: places[each])
    found = [0.0] * len(places)
    last = low - gap
    for each in order:
        last = found[each] = max(places[each], last + gap)
    limit = high
    for each in reversed(order):
        found[each] = min(found[each], limit)
        limit = found[each] - gap
    return found
