"""Small linear programs and systems of equations in fractions, against every basis and against HiGHS."""

from fractions import Fraction
from itertools import starmap
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_simplex import solved
from forestcoll.solver.exact_lp.exact_system import solve_with_transpose
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from networks import examples


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[int], list[Constraint]]:
    """Programs that have a solution, with a bound on all columns together."""
    columns = draw(st.integers(1, 5))
    point = [draw(st.integers(0, 4)) for _ in range(columns)]
    rows = [Constraint(dict.fromkeys(range(columns), 1), None, sum(point) + draw(st.integers(0, 9)))]
    for _ in range(draw(st.integers(0, 5))):
        coefficients = {column: value for column in range(columns) if (value := draw(st.integers(-3, 3)))}
        total = sum(value * point[column] for column, value in coefficients.items())
        slack = draw(st.integers(0, 6))
        ends = draw(st.sampled_from([(total, total), (None, total + slack), (total - slack, None)]))
        rows.append(Constraint(coefficients, *ends))
    return [draw(st.integers(-4, 4)) for _ in range(columns)], rows


@examples(300)
@given(programs())
def test_the_solution_is_feasible_and_its_prices_prove_that_none_is_better(
    program: tuple[list[int], list[Constraint]],
) -> None:
    objective, rows = program
    found = solved(objective, rows)
    assert found is not None
    values, prices = found
    assert min(values) >= 0
    for row, price in zip(rows, prices, strict=True):
        total = sum(factor * values[column] for column, factor in row.coefficients.items())
        assert row.upper is None or total <= row.upper
        assert row.lower is None or total >= row.lower
        assert row.lower is not None or price >= 0
        assert row.upper is not None or price <= 0
    for column, worth in enumerate(objective):
        assert sum(price * row.coefficients.get(column, 0) for row, price in zip(rows, prices, strict=True)) >= worth
    value = sum(worth * each for worth, each in zip(objective, values, strict=True))
    ends = [row.lower if row.upper is None else row.upper for row in rows]
    assert value == sum(price * (end or 0) for end, price in zip(ends, prices, strict=True))
    highs = LinearProgram(objective)
    for row in rows:
        highs.add(row)
    assert float(highs.solve().values @ objective) == pytest.approx(float(value), abs=1e-6)


def test_numbers_that_are_equal_in_floating_point() -> None:
    """x <= 10^30, x + y <= 10^30 + 1, y <= 2: floating point takes the sum for x alone."""
    rows = [Constraint({0: 1}, None, 10**30), Constraint({0: 1, 1: 1}, None, 10**30 + 1), Constraint({1: 1}, None, 2)]
    found = solved([1, 2], rows)
    assert found is not None
    assert found[0] == [10**30 - 1, 2]
    assert found[1] == [0, 1, 1]


def test_infeasible_and_unbounded_programs_have_no_solution() -> None:
    assert solved([1], [Constraint({0: 1}, None, -1)]) is None
    assert solved([1], [Constraint({0: -1}, None, 0)]) is None


def test_large_programs_are_not_solved() -> None:
    assert solved([1] * 300, [Constraint({column: 1}, None, 1) for column in range(300)]) is None


def test_programs_with_two_sided_rows_are_not_solved() -> None:
    assert solved([1], [Constraint({0: 1}, 1, 2)]) is None


# Programs whose numbers lie far apart: refined solutions equal those of the simplex method in fractions.

SIZES = st.sampled_from([1, 7, 10**3, 10**6 + 3, 10**9, 10**12 + 39, 10**18])


@st.composite
def packings(draw: st.DrawFn) -> LinearProgram:
    """Packing programs: columns share rows of any sizes, and some columns are in balance."""
    columns = draw(st.integers(2, 6))
    program = LinearProgram([draw(st.integers(1, 5)) for _ in range(columns)], scale=draw(SIZES))
    for column in range(columns):
        program.add(Constraint({column: 1}, None, draw(st.integers(1, 9)) * draw(SIZES)))
    for _ in range(draw(st.integers(1, 5))):
        members = draw(st.sets(st.integers(0, columns - 1), min_size=1))
        program.add(
            Constraint({each: draw(st.integers(1, 3)) for each in members}, None, draw(st.integers(1, 9)) * draw(SIZES))
        )
    if draw(st.booleans()):
        program.add(Constraint({0: 1, 1: -1}, 0, 0))
    return program


def value(program: LinearProgram, values: list[Fraction]) -> Fraction:
    return sum((each * worth for each, worth in zip(values, program.objective, strict=True)), Fraction(0))


@examples(150)
@given(packings())
def test_refined_solutions_are_the_optimum(program: LinearProgram) -> None:
    expected = solved(program.objective, program.rows)
    assert expected is not None
    refined = program.refined()
    assert refined is not None
    assert program.proves(*refined)
    assert value(program, refined[0]) == value(program, expected[0])
    proven = program.proven(program.attempt())
    assert proven is not None
    assert value(program, proven[0]) == value(program, expected[0])


def test_a_program_without_an_optimum_is_not_refined() -> None:
    program = LinearProgram([1])
    program.add(Constraint({0: -1}, None, 0))
    assert program.refined() is None


# Systems of equations.

SIDE = range(13)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    size = draw(st.integers(1, 6))
    row = st.lists(st.integers(-9, 9), min_size=size, max_size=size)
    side = st.lists(st.integers(-(10**30), 10**30), min_size=size, max_size=size)
    return draw(st.lists(row, min_size=size, max_size=size)), draw(side), draw(side)


def times(rows: list[list[int]], solution: list[Fraction]) -> list[Fraction]:
    return [sum(starmap(mul, zip(row, solution, strict=True)), Fraction(0)) for row in rows]


@examples(200)
@given(systems())
def test_solutions_satisfy_the_system(system: tuple[list[list[int]], list[int], list[int]]) -> None:
    rows, right, below = system
    matrix = np.array(rows, dtype=np.int64)
    solved = solve_with_transpose(matrix, right, below)
    if solved is None:
        assert abs(np.linalg.det(matrix)) < 1e-6
        return
    assert times(rows, solved[0]) == right
    assert times(matrix.T.tolist(), solved[1]) == below


def test_long_solutions_are_found() -> None:
    rows = [[pow(one + 2, other + 1, 23) - 11 for other in SIDE] for one in SIDE]
    matrix = np.array(rows, dtype=np.int64)
    right = [10**20 + each for each in SIDE]
    solved = solve_with_transpose(matrix, right, right)
    assert solved is not None
    assert times(rows, solved[0]) == right
    assert max(each.denominator for each in solved[0]) > 10**9


def test_a_system_without_equations_has_the_empty_solution() -> None:
    assert solve_with_transpose(np.zeros((0, 0), dtype=np.int64), [], []) == ([], [])


def test_a_singular_system_has_none() -> None:
    assert solve_with_transpose(np.array([[1, 2], [2, 4]], dtype=np.int64), [1, 2], [1, 2]) is None
