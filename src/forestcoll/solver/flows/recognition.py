"""Exact flows from the solution of a large linear program in floating point, without solving its basis in fractions.

Flows for one unit of need are often fractions with small denominators. These are recognised; each tight row in which
one flow is still unknown gives this flow exactly, until none is left. The caller checks the result in fractions, so
that a fraction that was recognised wrongly only makes the search fail.
"""

from fractions import Fraction

from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram, Solution

_DENOMINATOR, _ERROR = 10**4, 1e-12
"""A flow is recognised if a fraction with this denominator at most is so near, relative to it."""


def recognised_flows(program: LinearProgram, solution: Solution, rate: Fraction) -> list[Fraction] | None:
    """Return the flows of all columns but the first, relative to the first one; None if some are not recognised.

    Args:
        program: the program; column 0 is the rate.
        solution: its solution in floating point.
        rate: the exact value of column 0.
    """
    guess = (solution.values / solution.values[0]).tolist()
    simple = {value: _simple(value) for value in set(guess)}
    flows = [simple[value] for value in guess]
    unknown = {column for column in solution.used if flows[column] is None}
    rows = [row for row in (program.rows[number] for number in solution.tight) if unknown & row.coefficients.keys()]
    while unknown:
        found = {}
        for row in rows:
            missing = unknown & row.coefficients.keys()
            if len(missing) == 1:
                found[missing.pop()] = row
        if not found:
            return None
        for column, row in found.items():
            flows[column] = _missing(row, column, flows, rate)
        unknown -= found.keys()
    return [flow or Fraction(0) for flow in flows[1:]]


def _simple(value: float) -> Fraction | None:
    """Return the fraction with a small denominator that a flow is; None if it is none."""
    found = Fraction(value).limit_denominator(_DENOMINATOR)
    return found if abs(float(found) - value) <= _ERROR * max(abs(value), 1e-3) else None


def _missing(row: Constraint, column: int, flows: list[Fraction | None], rate: Fraction) -> Fraction:
    """Return the flow of the only unknown column of a tight row; a row with one limit is tight there."""
    side = Fraction((row.lower or 0) if row.upper is None else row.upper) / rate
    others = (each * (flows[other] or 0) for other, each in row.coefficients.items() if other != column)
    return (side - sum(others, Fraction(0))) / row.coefficients[column]
