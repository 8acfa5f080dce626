from fractions import Fraction
from itertools import starmap
from operator import mul

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.exact_lp.exact_system import solve_with_transpose
from networks import examples

SIZES = st.integers(1, 6)
SIDE = range(13)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    size = draw(SIZES)
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
