"""Small linear programs, solved exactly by the simplex method: for numbers that floating point cannot compare.

Maximise an objective over columns of 0 or more under rows of `linear_program`. An inequality row gets a slack column.
A row that the origin violates, and every equation, gets an artificial column. Artificial columns are removed first,
then the objective is raised. The column with the largest gain enters. While steps gain nothing, Bland's rule applies,
so that the method ends (R. G. Bland, 1977): the first column that gains enters, with the first row that limits it.

All cells are integers over one denominator (Edmonds' integral pivoting): after each step they are minors of the rows,
so every division is exact. Cost: each step visits all cells, so the method is only for programs with few cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.solver.exact_lp.constraint import Constraint

MOST_CELLS = 30_000
"""The most cells of a tableau of `solved`."""

Solved = tuple[list[Fraction], list[Fraction]]
"""Values of columns and prices of rows."""


@dataclass(frozen=True)
class _Limit:
    """A row with an upper limit.

    Attributes:
        coefficients: the coefficient of each column.
        upper: the limit.
        is_equation: whether the sum equals the limit.
        sign: -1 if the row had a lower limit, and was multiplied by -1.
    """

    coefficients: Mapping[int, int]
    upper: int
    is_equation: bool = False
    sign: int = 1


def solved(objective: Sequence[int], rows: Sequence[Constraint]) -> Solved | None:
    """Return an optimal solution and its dual, or None if the program is too large or has no optimum.

    Rows with two different limits are not supported: the result is None too.
    """
    if len(rows) * (len(objective) + 2 * len(rows)) > MOST_CELLS:
        return None
    limits = [limit for row in rows if (limit := _limit(row)) is not None]
    found = None if len(limits) < len(rows) else _optimum(objective, limits)
    if found is None:
        return None
    return found[0], [price * limit.sign for price, limit in zip(found[1], limits, strict=True)]


def _limit(row: Constraint) -> _Limit | None:
    if row.upper is None and row.lower is not None:
        return _Limit({column: -each for column, each in row.coefficients.items()}, -row.lower, sign=-1)
    if row.upper is None or row.lower not in {None, row.upper}:
        return None
    return _Limit(row.coefficients, row.upper, is_equation=row.lower is not None)


def packing_optimum(columns: Sequence[Mapping[int, Fraction]], rows: int) -> Solved:
    """Return columns x >= 0 with the greatest sum under A x <= 1, and prices y >= 0 of the rows with y A >= 1.

    The sums of x and y are equal.

    Args:
        columns: for each column of A, its entries above 0 by row; each column has at least one.
        rows: how many rows there are.
    """
    scales = [lcm(*(column[row].denominator for column in columns if row in column)) for row in range(rows)]
    coefficients: list[dict[int, int]] = [{} for _ in scales]
    for place, column in enumerate(columns):
        for row, entry in column.items():
            coefficients[row][place] = int(entry * scales[row])
    found = _optimum([1] * len(columns), list(map(_Limit, coefficients, scales)))
    if found is None:
        raise AssertionError("the sum of the columns has a limit")
    return found[0], [price * scale for price, scale in zip(found[1], scales, strict=True)]


def _optimum(objective: Sequence[int], limits: Sequence[_Limit]) -> Solved | None:
    tableau = _Tableau(len(objective), limits)
    if not tableau.reaches_feasible() or not tableau.maximise(dict(enumerate(objective))):
        return None
    return tableau.solution()


class _Tableau:
    """Rows of cells; the last cell is the right side. Columns: those of the program, slack, artificial.

    The last row has, for each column, minus what one more unit of it would add to the objective.
    """

    def __init__(self, columns: int, limits: Sequence[_Limit]) -> None:
        slack = [place for place, each in enumerate(limits) if not each.is_equation]
        artificial = [place for place, each in enumerate(limits) if each.is_equation or each.upper < 0]
        self._columns, self._first_artificial = columns, columns + len(slack)
        self._slack = {place: columns + number for number, place in enumerate(slack)}
        self._artificial = {place: self._first_artificial + number for number, place in enumerate(artificial)}
        self._signs = [-1 if each.upper < 0 else 1 for each in limits]
        self._cells = np.zeros((len(limits) + 1, self._first_artificial + len(artificial) + 1), dtype=object)
        self._denominator = 1
        for place, (each, sign) in enumerate(zip(limits, self._signs, strict=True)):
            cells = {**each.coefficients, -1: each.upper}
            if place in self._slack:
                cells[self._slack[place]] = 1
            for column, value in cells.items():
                self._cells[place, column] = sign * value
            if place in self._artificial:
                self._cells[place, self._artificial[place]] = 1
        self._basis = [self._artificial.get(place, self._slack.get(place, 0)) for place in range(len(limits))]

    def reaches_feasible(self) -> bool:
        """Remove the artificial columns, and return whether the rows have a solution."""
        if not self.maximise(dict.fromkeys(self._artificial.values(), -1)) or self._cells[-1, -1]:
            return False
        for place, column in enumerate(self._basis):
            if column >= self._first_artificial:
                others = np.flatnonzero(self._cells[place, : self._first_artificial])
                if len(others):  # if not, the row is redundant
                    self._pivot(place, int(others[0]))
        return True

    def maximise(self, worth: Mapping[int, int]) -> bool:
        """Maximise the objective with the coefficients `worth` of columns; return whether there is a maximum."""
        self._cells[-1] = 0
        for column, each in worth.items():
            self._cells[-1, column] = -self._denominator * each
        for place, column in enumerate(self._basis):
            self._cells[-1] += worth.get(column, 0) * self._cells[place]
        gained = True
        while (entering := self._entering(first=not gained)) is not None:
            leaving = self._leaving(entering)
            if leaving is None:
                return False
            gained = bool(self._cells[leaving, -1])
            self._pivot(leaving, entering)
        return True

    def solution(self) -> Solved:
        """Return the values of the program's columns, and the prices of its rows."""
        values = [Fraction(0)] * self._columns
        for place, column in enumerate(self._basis):
            if column < self._columns:
                values[column] = self._fraction(self._cells[place, -1])
        last = self._cells[-1]
        prices = [
            self._fraction(last[self._slack[place]] if place in self._slack else sign * last[self._artificial[place]])
            for place, sign in enumerate(self._signs)
        ]
        return values, prices

    def _fraction(self, cell: int) -> Fraction:
        return Fraction(cell, self._denominator)

    def _entering(self, *, first: bool) -> int | None:
        """Return the column that gains most (with `first`, the first column that gains), or None."""
        reduced = self._cells[-1, : self._first_artificial]
        gaining = np.flatnonzero(reduced < 0)
        if not len(gaining):
            return None
        return int(gaining[0]) if first else int(min(gaining, key=lambda each: (reduced[each], each)))

    def _leaving(self, entering: int) -> int | None:
        """Return the row that limits the entering column; ties go to the row whose basis column comes first."""
        limits = [
            (Fraction(cells[-1], cells[entering]), column, place)
            for place, (cells, column) in enumerate(zip(self._cells[:-1], self._basis, strict=True))
            if cells[entering] > 0
        ]
        return min(limits)[2] if limits else None

    def _pivot(self, place: int, entering: int) -> None:
        cells, pivot = self._cells, self._cells[place, entering]
        if pivot < 0:
            cells[place] *= -1
            pivot = -pivot
        others = np.arange(len(cells)) != place
        cells[others] = (cells[others] * pivot - np.outer(cells[others, entering], cells[place])) // self._denominator
        self._denominator, self._basis[place] = pivot, entering
