"""Small linear programs in fractions, against every basis and against HiGHS."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.exact_lp.exact_simplex import solved
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from networks import examples


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[int], list[Row]]:
    """Programs that have a solution, with a bound on all columns together."""
    columns = draw(st.integers(1, 5))
    point = [draw(st.integers(0, 4)) for _ in range(columns)]
    rows = [Row(dict.fromkeys(range(columns), 1), None, sum(point) + draw(st.integers(0, 9)))]
    for _ in range(draw(st.integers(0, 5))):
        coefficients = {column: value for column in range(columns) if (value := draw(st.integers(-3, 3)))}
        total = sum(value * point[column] for column, value in coefficients.items())
        slack = draw(st.integers(0, 6))
        ends = draw(st.sampled_from([(total, total), (None, total + slack), (total - slack, None)]))
        rows.append(Row(coefficients, *ends))
    return [draw(st.integers(-4, 4)) for _ in range(columns)], rows


@examples(300)
@given(programs())
def test_the_solution_is_feasible_and_its_prices_prove_that_none_is_better(
    program: tuple[list[int], list[Row]],
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
    rows = [Row({0: 1}, None, 10**30), Row({0: 1, 1: 1}, None, 10**30 + 1), Row({1: 1}, None, 2)]
    found = solved([1, 2], rows)
    assert found is not None
    assert found[0] == [10**30 - 1, 2]
    assert found[1] == [0, 1, 1]


def test_infeasible_and_unbounded_programs_have_no_solution() -> None:
    assert solved([1], [Row({0: 1}, None, -1)]) is None
    assert solved([1], [Row({0: -1}, None, 0)]) is None


def test_large_programs_are_not_solved() -> None:
    assert solved([1] * 300, [Row({column: 1}, None, 1) for column in range(300)]) is None


def test_programs_with_two_sided_rows_are_not_solved() -> None:
    assert solved([1], [Row({0: 1}, 1, 2)]) is None
