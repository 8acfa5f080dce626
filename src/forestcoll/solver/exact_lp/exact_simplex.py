"""Small linear programs in fractions, by the simplex method: for numbers too far apart for floating point.

Maximise an objective over columns of 0 or more under rows of `linear_program`. An inequality row gets a slack column.
A row that the origin violates, and every equation, gets an artificial column. Artificial columns are removed first,
then the objective is raised. The column with the largest gain enters. After many steps the method may be cycling; from
then on Bland's rule applies (R. G. Bland, 1977): the first column that gains enters, with the first row that limits it.

Cost: each step visits all cells of the tableau, in fractions, so the method is only for programs with few cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.solver.exact_lp.row import Row

MOST_CELLS = 30_000
"""The most cells of a tableau; at this size a step takes a few hundredths of a second."""

_STEPS_BEFORE_BLAND = 200
_MOST_STEPS = 5000

Solved = tuple[list[Fraction], list[Fraction]]
"""Values of columns and prices of rows."""

Cells = list[Fraction]


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


def solved(objective: Sequence[int], rows: Sequence[Row]) -> Solved | None:
    """Return an optimal solution and its dual, or None if the program is too large or has no optimum.

    Rows with two different limits are not supported: the result is None too.
    """
    if len(rows) * (len(objective) + 2 * len(rows)) > MOST_CELLS:
        return None
    limits = [limit for row in rows if (limit := _limit(row)) is not None]
    if len(limits) < len(rows):
        return None
    tableau = _Tableau(objective, limits)
    if not tableau.is_solved():
        return None
    values, prices = tableau.solution()
    return values, [price * limit.sign for price, limit in zip(prices, limits, strict=True)]


def _limit(row: Row) -> _Limit | None:
    if row.upper is None and row.lower is not None:
        return _Limit({column: -each for column, each in row.coefficients.items()}, -row.lower, sign=-1)
    if row.upper is None or row.lower not in {None, row.upper}:
        return None
    return _Limit(row.coefficients, row.upper, is_equation=row.lower is not None)


class _Tableau:
    """Rows of cells; the last cell is the right side. Columns: those of the program, slack, artificial."""

    def __init__(self, objective: Sequence[int], rows: Sequence[_Limit]) -> None:
        self._columns, self._objective = len(objective), objective
        self._slack = {
            place: self._columns + number
            for number, place in enumerate(place for place, row in enumerate(rows) if not row.is_equation)
        }
        self._first_artificial = self._columns + len(self._slack)
        self._signs = [-1 if row.upper < 0 else 1 for row in rows]
        width = self._first_artificial + len(rows) + 1
        self._body: list[Cells] = [[Fraction(0)] * width for _ in rows]
        self._basis: list[int] = []
        for place, row in enumerate(rows):
            self._fill(place, row)

    def _fill(self, place: int, row: _Limit) -> None:
        cells, sign = self._body[place], self._signs[place]
        for column, coefficient in row.coefficients.items():
            cells[column] = Fraction(sign * coefficient)
        cells[-1] = Fraction(sign * row.upper)
        cells[self._first_artificial + place] = Fraction(1)
        if place in self._slack:
            cells[self._slack[place]] = Fraction(sign)
        starts_with_slack = place in self._slack and sign > 0
        self._basis.append(self._slack[place] if starts_with_slack else self._first_artificial + place)

    def is_solved(self) -> bool:
        """Find the optimum, and return whether there is one."""
        artificial = range(self._first_artificial, len(self._body[0]) - 1) if self._body else range(0)
        first = {column: Fraction(-1) for column in artificial}
        if not self._maximise(first) or any(
            self._body[place][-1] for place, column in enumerate(self._basis) if column >= self._first_artificial
        ):
            return False
        self._remove_artificial_columns()
        return self._maximise({column: Fraction(worth) for column, worth in enumerate(self._objective)})

    def solution(self) -> Solved:
        """Return the values of the program's columns, and the prices of its rows."""
        values = [Fraction(0)] * self._columns
        for place, column in enumerate(self._basis):
            if column < self._columns:
                values[column] = self._body[place][-1]
        gains = self._gains({column: Fraction(worth) for column, worth in enumerate(self._objective)})
        prices = [
            -gains[self._slack[place]] if place in self._slack else -sign * gains[self._first_artificial + place]
            for place, sign in enumerate(self._signs)
        ]
        return values, prices

    def _gains(self, worth: Mapping[int, Fraction]) -> Cells:
        """Return, for each column, what one more unit of it would add to the objective."""
        width = len(self._body[0]) if self._body else self._columns + 1
        gains = [worth.get(column, Fraction(0)) for column in range(width)]
        for cells, column in zip(self._body, self._basis, strict=True):
            if price := worth.get(column):
                gains = [gain - price * cell if cell else gain for gain, cell in zip(gains, cells, strict=True)]
        return gains

    def _maximise(self, worth: Mapping[int, Fraction]) -> bool:
        """Maximise the objective with the coefficients `worth` of columns; return whether a maximum was found."""
        gains = self._gains(worth)
        for step in range(_MOST_STEPS):
            gaining = [column for column in range(self._first_artificial) if gains[column] > 0]
            if not gaining:
                return True
            entering = gaining[0]
            if step < _STEPS_BEFORE_BLAND:
                entering = max(gaining, key=lambda column: (gains[column], -column))
            leaving = self._leaving(entering)
            if leaving is None:
                return False
            self._pivot(leaving, entering)
            gain, cells = gains[entering], self._body[leaving]
            gains = [each - gain * cell if cell else each for each, cell in zip(gains, cells, strict=True)]
        return False

    def _leaving(self, entering: int) -> int | None:
        limits = [
            (cells[-1] / cells[entering], self._basis[place], place)
            for place, cells in enumerate(self._body)
            if cells[entering] > 0
        ]
        return min(limits)[2] if limits else None

    def _pivot(self, place: int, entering: int) -> None:
        unit = self._body[place][entering]
        chosen = [cell / unit if cell else cell for cell in self._body[place]]
        self._body[place], self._basis[place] = chosen, entering
        for other, cells in enumerate(self._body):
            if other != place and (factor := cells[entering]):
                self._body[other] = [
                    cell - factor * part if part else cell for cell, part in zip(cells, chosen, strict=True)
                ]

    def _remove_artificial_columns(self) -> None:
        """Remove artificial columns from the basis. If that is impossible, the row is redundant."""
        for place, column in enumerate(self._basis):
            if column >= self._first_artificial:
                cells = self._body[place]
                entering = next((each for each in range(self._first_artificial) if cells[each]), None)
                if entering is not None:
                    self._pivot(place, entering)
