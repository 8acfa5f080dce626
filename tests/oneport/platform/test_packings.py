"""Packing programs without floating point, and the proof of optimality of a linear program."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.exact_lp.exact_packing import packing_optimum
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from networks import examples

ENTRIES = st.one_of(st.integers(1, 5).map(Fraction), st.builds(Fraction, st.integers(1, 10**6), st.integers(1, 997)))


@st.composite
def packings(draw: st.DrawFn) -> tuple[list[dict[int, Fraction]], int]:
    rows = draw(st.integers(1, 6))
    column = st.dictionaries(st.integers(0, rows - 1), ENTRIES, min_size=1)
    return draw(st.lists(column, min_size=1, max_size=10)), rows


@given(packings())
@examples(150)
def test_values_and_prices_prove_each_other(packing: tuple[list[dict[int, Fraction]], int]) -> None:
    columns, rows = packing
    values, prices = packing_optimum(columns, rows)
    assert min(values) >= 0
    assert min(prices) >= 0
    assert sum(values) == sum(prices)
    for row in range(rows):
        assert sum(column.get(row, 0) * value for column, value in zip(columns, values, strict=True)) <= 1
    for column in columns:
        assert sum(prices[row] * entry for row, entry in column.items()) >= 1


def two_by_two() -> LinearProgram:
    program = LinearProgram([1, 1])
    program.add(Row({0: 2, 1: 1}, None, 4))
    program.add(Row({0: 1, 1: 3}, None, 6))
    return program


def test_the_exact_solution_of_a_program_is_proven_optimal() -> None:
    program = two_by_two()
    exact = program.exact(program.solve())
    assert exact == ([Fraction(6, 5), Fraction(8, 5)], [Fraction(2, 5), Fraction(1, 5)])
    assert program.proves(*exact)


def test_a_solution_that_is_not_optimal_has_no_proof() -> None:
    program = two_by_two()
    good, prices = [Fraction(6, 5), Fraction(8, 5)], [Fraction(2, 5), Fraction(1, 5)]
    assert not program.proves([Fraction(1), Fraction(1)], prices)
    assert not program.proves([Fraction(2), Fraction(2)], prices)
    assert not program.proves(good, [Fraction(1, 2), Fraction(0)])
    assert not program.proves(good, [Fraction(-2, 5), Fraction(1, 5)])


def test_coefficients_of_forty_digits_are_solved_exactly() -> None:
    long = 10**40 + 1
    program = LinearProgram([1])
    program.add(Row({0: long}, None, long - 1))
    exact = program.exact(program.solve())
    assert exact is not None
    assert exact[0] == [Fraction(long - 1, long)]
