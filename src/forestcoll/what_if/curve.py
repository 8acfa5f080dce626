"""The optimum as a function of a factor on some bandwidths: concave, and made of straight pieces.

The bound of a cut is a straight line of the factor, and so is that of every other proof here. The optimum is the least
of all these lines. So two neighbouring pieces meet where their lines cross, if no other line is lower there; otherwise
that line is a piece between them, and the search goes on at both of its sides. Every breakpoint is an exact fraction.
Cost: about two optima for each piece.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.what_if.value import Solved

_MOST_PIECES = 200
"""The most optima that are computed for one curve."""


@dataclass(frozen=True)
class _Line:
    """The line `at_zero` + `slope` * factor."""

    at_zero: Fraction
    slope: Fraction

    def at(self, factor: Fraction) -> Fraction:
        """Return the value at a factor."""
        return self.at_zero + self.slope * factor

    def crossing(self, other: "_Line") -> Fraction:
        """Return the factor at which two lines with different slopes cross."""
        return (other.at_zero - self.at_zero) / (self.slope - other.slope)


@dataclass(frozen=True)
class OptimumCurve:
    """The optimum from the factor 1 on.

    Attributes:
        points: (factor, algbw) at the factor 1 and at each breakpoint, in rising order.
        last_slope: the gain in algbw for each 1 of the factor after the last point; 0 if more gains nothing.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    last_slope: Fraction

    def at(self, factor: Fraction) -> Fraction:
        """Return the optimum at a factor of 1 or more."""
        last, value = self.points[-1]
        if factor >= last:
            return value + self.last_slope * (factor - last)
        for (low, below), (high, above) in zip(self.points, self.points[1:], strict=False):
            if factor <= high:
                return below + (above - below) * (factor - low) / (high - low)
        return value


class _NotExactError(Exception):
    """An optimum does not equal its bound, so it does not lie on a known line."""


def curve_of(
    solve: Callable[[Fraction], tuple[Solved, Callable[[Fraction], Fraction]]], far: Fraction
) -> OptimumCurve | None:
    """Return the curve, or None if an optimum on it is not proven or if there are too many pieces.

    Args:
        solve: returns the optimum at a factor, and what its proof proves at another factor.
        far: a factor beyond the last breakpoint.
    """
    search = _CurveSearch(solve)
    try:
        first, last = search.line(Fraction(1)), search.line(far)
        breakpoints = search.between(first, last)
    except _NotExactError:
        return None
    points = [(Fraction(1), first.at(Fraction(1)))]
    points += [(factor, line.at(factor)) for factor, line in breakpoints if factor > 1]
    return OptimumCurve(tuple(points), last.slope)


class _CurveSearch:
    def __init__(self, solve: Callable[[Fraction], tuple[Solved, Callable[[Fraction], Fraction]]]) -> None:
        self._solve = solve
        self._left = _MOST_PIECES

    def line(self, factor: Fraction) -> _Line:
        """Return the line of the proof of the optimum at `factor`."""
        self._left -= 1
        best, proven = self._solve(factor)
        if best.algbw != best.bound.algbw or self._left < 0:
            raise _NotExactError
        slope = proven(factor + 1) - best.algbw
        return _Line(best.algbw - slope * factor, slope)

    def between(self, left: _Line, right: _Line) -> list[tuple[Fraction, _Line]]:
        """Return the breakpoints between two pieces, each with the line of the piece to its right."""
        if left == right or left.slope == right.slope:
            return []
        factor = left.crossing(right)
        middle = self.line(factor)
        if middle.at(factor) == right.at(factor):
            return [(factor, right)]
        return [*self.between(left, middle), *self.between(middle, right)]
