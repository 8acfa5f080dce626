"""Exact optima of small packing programs, for cases where floating point cannot compare two bases.

Maximise the sum of columns x >= 0 under A x <= 1, where all entries of A are 0 or more. The method is the simplex
method in integers (Edmonds' integral pivoting: after each pivot all entries are minors of A, so every division is
exact). Bland's rule is used while pivots gain nothing, so that the method ends.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

Tableau = npt.NDArray[np.object_]


def packing_optimum(columns: Sequence[Mapping[int, Fraction]], rows: int) -> tuple[list[Fraction], list[Fraction]]:
    """Return the optimal x and the optimal row prices y: y >= 0 with y A >= 1, where y and x have the same sum.

    Args:
        columns: for each column, its entries above 0 by row; each column has at least one.
        rows: how many rows there are.
    """
    scales = [lcm(*(column[row].denominator for column in columns if row in column)) for row in range(rows)]
    tableau = _start(columns, scales)
    basis = [len(columns) + row for row in range(rows)]
    denominator, gained = 1, True
    while (entering := _entering(tableau[-1, :-1], first=not gained)) is not None:
        leaving = _leaving(tableau, basis, entering)
        gained = bool(tableau[leaving, -1] > 0)
        denominator = _pivot(tableau, leaving, entering, denominator)
        basis[leaving] = entering
    values = [Fraction(0)] * len(columns)
    for row, column in enumerate(basis):
        if column < len(columns):
            values[column] = Fraction(int(tableau[row, -1]), denominator)
    slacks = tableau[-1, len(columns) : -1]
    return values, [Fraction(int(each) * scale, denominator) for each, scale in zip(slacks, scales, strict=True)]


def _start(columns: Sequence[Mapping[int, Fraction]], scales: Sequence[int]) -> Tableau:
    """Return the rows in integers with their slacks and right sides; the last row is minus the objective."""
    rows, count = len(scales), len(columns)
    tableau = np.zeros((rows + 1, count + rows + 1), dtype=object)
    for place, column in enumerate(columns):
        for row, entry in column.items():
            tableau[row, place] = int(entry * scales[row])
        tableau[-1, place] = -1
    for row, scale in enumerate(scales):
        tableau[row, count + row] = 1
        tableau[row, -1] = scale
    return tableau


def _entering(reduced: Tableau, *, first: bool) -> int | None:
    """Return the column that gains most (with `first`, the first column that gains), or None."""
    gaining = np.flatnonzero(reduced < 0)
    if not len(gaining):
        return None
    return int(gaining[0]) if first else int(min(gaining, key=lambda each: (reduced[each], each)))


def _leaving(tableau: Tableau, basis: Sequence[int], entering: int) -> int:
    """Return the row that limits the entering column; ties go to the row whose basis column comes first."""
    candidates = [row for row in range(len(basis)) if tableau[row, entering] > 0]
    return min(candidates, key=lambda row: (Fraction(tableau[row, -1], tableau[row, entering]), basis[row]))


def _pivot(tableau: Tableau, row: int, column: int, denominator: int) -> int:
    """Change the tableau to the new basis, and return its denominator."""
    pivot = tableau[row, column]
    others = np.arange(len(tableau)) != row
    tableau[others] = (tableau[others] * pivot - np.outer(tableau[others, column], tableau[row])) // denominator
    return int(pivot)
