"""The exact solution of a linear program, and the proof that it is optimal."""

from fractions import Fraction

from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram


def two_by_two() -> LinearProgram:
    program = LinearProgram([1, 1])
    program.add(Constraint({0: 2, 1: 1}, None, 4))
    program.add(Constraint({0: 1, 1: 3}, None, 6))
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
    program.add(Constraint({0: long}, None, long - 1))
    exact = program.exact(program.solve())
    assert exact is not None
    assert exact[0] == [Fraction(long - 1, long)]
