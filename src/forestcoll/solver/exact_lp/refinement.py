"""Exact optima of linear programs whose numbers lie far apart: iterative refinement around HiGHS.

A solver in floating point sees differences of about a billionth of the greatest number. Each round here takes what its
solution lacks, in fractions, scales it up to numbers of size 1, and solves the program of these residuals from the last
basis; the sum of the rounds gains digits with each. If a round changes the basis, the exact solution of this basis is
tried. Floating point only suggests bases: a solution counts if it proves itself.

Cost: a round is a solution of HiGHS from a basis that is nearly optimal, and sums over all coefficients in fractions.
Reference: A. M. Gleixner, D. E. Steffy, K. Wolter, *Iterative refinement for linear programming*, INFORMS Journal on
Computing, 2016.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from forestcoll.base.exact import as_float
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.highs import quiet_highs

if TYPE_CHECKING:
    import highspy

MOST_ROUNDS = 40

_STEP = 2**16
"""The most by which the residuals are scaled up from one round to the next."""

_TOLERANCE = 1e-9
"""The tolerance of HiGHS in a round."""

Exact: TypeAlias = tuple[list[Fraction], list[Fraction]]
"""Values of columns and prices of rows."""


OfBasis: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...], Sequence[Fraction]], Exact | None]
"""Returns the exact solution for columns in the basis, tight rows and approximate prices, if it proves itself."""


def refined(objective: Sequence[int], rows: Sequence[Constraint], of_basis: OfBasis) -> Exact | None:
    """Return what `of_basis` returns for the first basis for which it is not None; None if no round finds one.

    Args:
        objective: the coefficients of the objective, which is maximised over columns of 0 or more.
        rows: the conditions.
        of_basis: tries a basis.
    """
    refinement = _Refinement(objective, rows)
    tried = None
    for _ in range(MOST_ROUNDS):
        basis = refinement.next_basis()
        if basis is None:
            return None
        if basis != tried:
            tried = basis
            if (exact := of_basis(*basis, refinement.prices)) is not None:
                return exact
    return None


class _Refinement:
    """An approximate solution in fractions, which each round makes better."""

    def __init__(self, objective: Sequence[int], rows: Sequence[Constraint]) -> None:
        self._objective, self._rows = objective, rows
        self._values = [Fraction(0)] * len(objective)
        self.prices = [Fraction(0)] * len(rows)
        self._longest = [max(map(abs, row.coefficients.values()), default=1) for row in rows]
        sides = [Fraction(abs(each), long) for each, long in self._sides() if each]
        self._up = 1 / max(sides, default=Fraction(1))  # by which residuals of rows and columns are scaled up
        self._up_of_gains = Fraction(1, max(map(abs, objective), default=0) or 1)
        self._highs: highspy.Highs | None = None

    def next_basis(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Solve the program of the residuals; return the columns in its basis and its tight rows, None if it fails."""
        from highspy import HighsBasisStatus, HighsModelStatus

        highs = self._program()
        highs.run()
        if highs.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        solution, basis = highs.getSolution(), highs.getBasis()
        self._values = _sums(self._values, map(_exactly, solution.col_value), self._up)
        duals = (_exactly(each) / long for each, long in zip(solution.row_dual, self._longest, strict=True))
        self.prices = _sums(self.prices, duals, self._up_of_gains)
        self._scale_up()
        basic = HighsBasisStatus.kBasic
        return (
            tuple(column for column, status in enumerate(basis.col_status) if status == basic),
            tuple(row for row, status in enumerate(basis.row_status) if status != basic),
        )

    def _program(self) -> "highspy.Highs":
        """Return HiGHS with the program of the residuals."""
        from highspy import kHighsInf

        gains = [as_float(self._up_of_gains * each) for each in self._gains()]
        least = [as_float(-self._up * each) for each in self._values]
        ends = list(self._ends())
        if self._highs is None:
            self._highs = _started(gains, least, self._rows, self._longest, ends)
            return self._highs
        for column, (gain, low) in enumerate(zip(gains, least, strict=True)):
            self._highs.changeColCost(column, gain)
            self._highs.changeColBounds(column, low, kHighsInf)
        for row, (low, high) in enumerate(ends):
            self._highs.changeRowBounds(row, low, high)
        return self._highs

    def _ends(self) -> Iterable[tuple[float, float]]:
        """Yield what each row leaves below and above its sum, scaled up."""
        from highspy import kHighsInf

        for row, total, long in zip(self._rows, self._totals(), self._longest, strict=True):
            low = -kHighsInf if row.lower is None else as_float(self._up * (row.lower - total), long)
            yield low, kHighsInf if row.upper is None else as_float(self._up * (row.upper - total), long)

    def _sides(self) -> Iterable[tuple[int, int]]:
        """Yield the right sides of all rows, each with the longest coefficient of its row."""
        for row, long in zip(self._rows, self._longest, strict=True):
            yield from ((side, long) for side in (row.lower, row.upper) if side is not None)

    def _totals(self) -> list[Fraction]:
        return [
            sum((count * self._values[column] for column, count in row.coefficients.items()), Fraction(0))
            for row in self._rows
        ]

    def _gains(self) -> list[Fraction]:
        """Return what one more unit of each column would add to the objective at the prices."""
        gains = [Fraction(each) for each in self._objective]
        for row, price in zip(self._rows, self.prices, strict=True):
            if price:
                for column, count in row.coefficients.items():
                    gains[column] -= count * price
        return gains

    def _scale_up(self) -> None:
        faults = [-each for each in self._values]
        for row, total, long in zip(self._rows, self._totals(), self._longest, strict=True):
            faults += [] if row.lower is None else [(row.lower - total) / long]
            faults += [] if row.upper is None else [(total - row.upper) / long]
        self._up = _scale(max(faults), self._up)
        self._up_of_gains = _scale(max(self._gains()), self._up_of_gains)


def _started(
    gains: Sequence[float],
    least: Sequence[float],
    rows: Sequence[Constraint],
    longest: Sequence[int],
    ends: Sequence[tuple[float, float]],
) -> "highspy.Highs":
    """Return HiGHS with a program; each row is divided by its longest coefficient."""
    import highspy

    highs = quiet_highs()
    for name, value in (("solver", "simplex"), ("presolve", "off")):
        highs.setOptionValue(name, value)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        highs.setOptionValue(name, _TOLERANCE)
    highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for gain, low in zip(gains, least, strict=True):
        highs.addCol(gain, low, highspy.kHighsInf, 0, np.array([], dtype=np.int32), np.array([], dtype=np.float64))
    for row, long, (low, high) in zip(rows, longest, ends, strict=True):
        columns = sorted(row.coefficients)
        counts = np.array([as_float(row.coefficients[column], long) for column in columns])
        highs.addRow(low, high, len(columns), np.array(columns, dtype=np.int32), counts)
    return highs


def _exactly(value: float) -> Fraction:
    return Fraction(as_float(value))  # HiGHS returns numbers of NumPy


def _sums(values: Sequence[Fraction], more: Iterable[Fraction], scale: Fraction) -> list[Fraction]:
    return [each + other / scale for each, other in zip(values, more, strict=True)]


def _scale(fault: Fraction, last: Fraction) -> Fraction:
    """Return a power of two by which `fault` becomes at most 1, and which is at most `_STEP` times the last scale."""
    most = last * _STEP if fault <= 0 else min(1 / fault, last * _STEP)
    power = most.numerator.bit_length() - most.denominator.bit_length() - 1
    return Fraction(2) ** power
