"""Programs whose numbers lie far apart: refined solutions equal those of the simplex method in fractions."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.exact_lp.exact_simplex import solved
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from networks import examples

SIZES = st.sampled_from([1, 7, 10**3, 10**6 + 3, 10**9, 10**12 + 39, 10**18])


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    """Packing programs: columns share rows of any sizes, and some columns are in balance."""
    columns = draw(st.integers(2, 6))
    program = LinearProgram([draw(st.integers(1, 5)) for _ in range(columns)], scale=draw(SIZES))
    for column in range(columns):
        program.add(Row({column: 1}, None, draw(st.integers(1, 9)) * draw(SIZES)))
    for _ in range(draw(st.integers(1, 5))):
        members = draw(st.sets(st.integers(0, columns - 1), min_size=1))
        program.add(
            Row({each: draw(st.integers(1, 3)) for each in members}, None, draw(st.integers(1, 9)) * draw(SIZES))
        )
    if draw(st.booleans()):
        program.add(Row({0: 1, 1: -1}, 0, 0))
    return program


def value(program: LinearProgram, values: list[Fraction]) -> Fraction:
    return sum((each * worth for each, worth in zip(values, program.objective, strict=True)), Fraction(0))


@examples(300)
@given(programs())
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
    program.add(Row({0: -1}, None, 0))
    assert program.refined() is None
