"""Linear programs: maximise over columns of 0 or more. HiGHS solves them in floating point; exact numbers follow.

A solution is a guess until it is checked in fractions. It also says which rows are tight and which columns are in the
basis; from these `exact_system` computes the exact solution. Rows can be added to a program that was solved, and rows
that are not tight can be removed. The next solution starts from the last one: the cutting-plane method (Dantzig,
Fulkerson, Johnson).

HiGHS runs on one thread, so that the same program has the same solution.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InternalError
from forestcoll.base.exact import as_float
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_simplex import solved
from forestcoll.solver.exact_lp.exact_system import LONGEST_FAST, solve_with_transpose
from forestcoll.solver.exact_lp.highs import quiet_highs
from forestcoll.solver.exact_lp.refinement import Exact, refined

Floats = npt.NDArray[np.float64]

MOST_EXACT_COLUMNS = 3000
"""The most columns of a basis that is solved exactly. The cost grows with their cube; this many take minutes."""


_DUAL, _PRIMAL = 1, 4
_RESTARTS = (("simplex_strategy", _DUAL), ("simplex_strategy", _PRIMAL), ("solver", "ipm"))
"""The options of attempts from nothing, if HiGHS fails because numbers are far apart. The first one is the usual."""


_HUGE = 2**1000
"""Numbers above this one may exceed floating point."""

_LONGEST_COST = 2**50
"""Objectives with longer numbers are scaled; HiGHS treats costs of 20 digits as infinite."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What HiGHS found.

    Attributes:
        values: the value of each column.
        prices: for each row, what one more unit of its right side would add to the objective, in multiples of
            `LinearProgram.unit`.
        used: the columns in the basis.
        tight: the rows that are not in the basis, and so hold with equality.
    """

    values: Floats
    prices: Floats
    used: tuple[int, ...]
    tight: tuple[int, ...]


class LinearProgram:
    """Maximise `objective` times columns under rows; rows can be added at any time.

    Right sides are integers of any size. They are divided by `scale`, also any integer, in floating point only. So is
    the objective by `unit`, which is 1 or, if its numbers are long, the greatest of them.
    """

    def __init__(self, objective: list[int], *, scale: int = 1) -> None:
        self.objective = objective
        self.scale = scale
        longest = max(map(abs, objective), default=0)
        self.unit = longest if longest > _LONGEST_COST else 1
        self.rows: list[Constraint] = []
        self._shrinks: list[int] = []
        import highspy  # here, as most runs of the command line need no linear program

        self._highs = quiet_highs()
        self._highs.setOptionValue("solver", "simplex")
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for each in objective:
            self._highs.addCol(as_float(each, self.unit), 0.0, highspy.kHighsInf, 0, _NO_INDICES, _NO_VALUES)

    def reached(self, values: Floats) -> float:
        """Return the objective of approximate values, in multiples of `unit`."""
        return as_float(np.dot([as_float(each, self.unit) for each in self.objective], values))

    def add(self, row: Constraint) -> None:
        """Add a row."""
        from highspy import kHighsInf

        self.rows.append(row)
        columns = sorted(row.coefficients)
        longest = max(map(abs, row.coefficients.values()), default=0)
        shrink = longest if longest > LONGEST_FAST else 1  # HiGHS treats numbers of 20 digits as infinite
        self._shrinks.append(shrink)
        self._highs.addRow(
            -kHighsInf if row.lower is None else as_float(row.lower, self.scale * shrink),
            kHighsInf if row.upper is None else as_float(row.upper, self.scale * shrink),
            len(columns),
            np.array(columns, dtype=np.int32),
            np.array([as_float(row.coefficients[column], shrink) for column in columns]),
        )

    def remove(self, rows: Sequence[int]) -> None:
        """Remove rows, which must not be tight in the last solution. The other rows move up."""
        removed = set(rows)
        kept = [number for number in range(len(self.rows)) if number not in removed]
        self.rows = [self.rows[number] for number in kept]
        self._shrinks = [self._shrinks[number] for number in kept]
        self._highs.deleteRows(len(removed), np.array(sorted(removed), dtype=np.int32))

    def solve(self) -> Solution:
        """Return an optimal solution.

        Raises:
            InternalError: HiGHS finds none, although every program solved here has one.
        """
        solution = self.attempt()
        if solution is None:
            raise InternalError(
                f"HiGHS ends with {self._highs.getModelStatus()} on a linear program that has an optimum"
            )
        return solution

    def attempt(self) -> Solution | None:
        """Return an optimal solution, or None if floating point finds none because the numbers are too far apart."""
        from highspy import HighsBasisStatus

        if not self._run():
            return None
        solution, basis = self._highs.getSolution(), self._highs.getBasis()
        basic = HighsBasisStatus.kBasic
        return Solution(
            values=np.array(solution.col_value),
            prices=np.array(solution.row_dual)
            / np.array([min(each, _HUGE) for each in self._shrinks], dtype=np.float64),
            used=tuple(number for number, status in enumerate(basis.col_status) if status == basic),
            tight=tuple(number for number, status in enumerate(basis.row_status) if status != basic),
        )

    def _run(self) -> bool:
        """Solve the program from the last basis, or from nothing if this fails; return whether an optimum was found."""
        from highspy import HighsModelStatus

        self._highs.run()
        for name, value in _RESTARTS:
            if self._highs.getModelStatus() == HighsModelStatus.kOptimal:
                return True
            usual = self._highs.getOptionValue(name)[1]
            self._highs.setOptionValue(name, value)
            self._highs.clearSolver()
            self._highs.run()
            self._highs.setOptionValue(name, usual)
        return bool(self._highs.getModelStatus() == HighsModelStatus.kOptimal)

    def proven(self, solution: Solution | None) -> Exact | None:
        """Return what `refined` returns; the basis of `solution`, if there is one, is tried first."""
        exact = None if solution is None else self.exact(solution)
        return exact if exact is not None and self.proves(*exact) else self.refined()

    def refined(self) -> Exact | None:
        """Return exact values of all columns and prices of all rows that prove each other optimal.

        This is for programs whose numbers are too far apart for the basis of a solution. Their solution is refined, and
        programs that are small enough are solved without floating point; None if both fail.
        """
        if min(len(self.objective), len(self.rows)) > MOST_EXACT_COLUMNS:
            return None
        return refined(self.objective, self.rows, self._of_basis) or self.exact_without_floats()

    def _of_basis(self, used: tuple[int, ...], tight: tuple[int, ...], prices: Sequence[Fraction]) -> Exact | None:
        floats = np.array([as_float(each) for each in prices])
        exact = self.exact(Solution(np.zeros(len(self.objective)), floats, used, tight))
        return exact if exact is not None and self.proves(*exact) else None

    def exact(self, solution: Solution) -> Exact | None:
        """Return the exact values of all columns and the exact prices of all rows for the basis of `solution`.

        Returns None if the basis is too large or singular. The caller must check whether the values are feasible.
        """
        used, tight = solution.used, solution.tight
        if len(used) != len(tight) or len(used) > MOST_EXACT_COLUMNS:
            return None
        place = {column: number for number, column in enumerate(used)}
        matrix = np.zeros((len(tight), len(used)), dtype=object if self._has_long_coefficients(tight) else np.int64)
        for number, row in enumerate(tight):
            for column, coefficient in self.rows[row].coefficients.items():
                if column in place:
                    matrix[number, place[column]] = coefficient
        sides = [_side(self.rows[row], solution.prices[row]) for row in tight]
        solved = solve_with_transpose(matrix, sides, [self.objective[column] for column in used])
        if solved is None:
            return None
        return _spread(solved[0], used, len(self.objective)), _spread(solved[1], tight, len(self.rows))

    def exact_without_floats(self) -> Exact | None:
        """Return exact values and prices of an optimum, found without floating point; None if the program is not small.

        This is slow. Use it for programs whose numbers are too far apart for `exact`.
        """
        return solved(self.objective, self.rows)

    def proves(self, values: list[Fraction], prices: list[Fraction]) -> bool:
        """Return whether columns and prices prove each other optimal: both feasible, with the same objective.

        The price of a row is above 0 if its upper limit is tight, below 0 if its lower limit is.
        """
        reduced = [Fraction(each) for each in self.objective]
        reached = Fraction(0)
        for row, price in zip(self.rows, prices, strict=True):
            activity = sum((values[column] * each for column, each in row.coefficients.items()), Fraction(0))
            if (row.lower is not None and activity < row.lower) or (row.upper is not None and activity > row.upper):
                return False
            end = row.upper if price > 0 else row.lower
            if price:
                if end is None:
                    return False
                reached += price * end
                for column, each in row.coefficients.items():
                    reduced[column] -= price * each
        objective = sum((value * each for value, each in zip(values, self.objective, strict=True)), Fraction(0))
        return min(values) >= 0 and max(reduced) <= 0 and objective == reached

    def _has_long_coefficients(self, rows: tuple[int, ...]) -> bool:
        """Return whether sums of products with coefficients of `rows` could exceed 64 bits."""
        return any(abs(each) > LONGEST_FAST for row in rows for each in self.rows[row].coefficients.values())


_NO_INDICES = np.array([], dtype=np.int32)
_NO_VALUES = np.array([], dtype=np.float64)


def _side(row: Constraint, price: float) -> int:
    """Return the right side at which the row is tight."""
    if row.upper is None or (row.lower is not None and price < 0):
        return row.lower or 0
    return row.upper


def _spread(values: list[Fraction], places: tuple[int, ...], length: int) -> list[Fraction]:
    spread = [Fraction(0)] * length
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return spread
