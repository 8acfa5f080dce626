"""The value type of a group of symmetries: its order and its elements."""

import numpy as np

from forestcoll.topology import Shift, Symmetry


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int32))


def test_no_shifts_are_the_trivial_group() -> None:
    group = Symmetry(())
    assert group.order == 1
    assert [element.tolist() for element in group.elements(3)] == [[0, 1, 2]]


def test_elements_are_all_products_of_powers_and_the_identity_comes_first() -> None:
    group = Symmetry((_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3])))
    assert group.order == 6
    elements = [element.tolist() for element in group.elements(6)]
    assert elements[0] == [0, 1, 2, 3, 4, 5]
    assert sorted(element[0] for element in elements) == [0, 1, 2, 3, 4, 5]
    assert elements[4] == [4, 5, 3, 1, 2, 0]


def test_the_repr_of_a_symmetry_is_one_line() -> None:
    shifts = (_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3]))
    assert repr(Symmetry(shifts)) == "Symmetry(order 6 = 2 x 3)"
    assert repr(Symmetry(shifts[:1])) == "Symmetry(order 2)"
    assert repr(Symmetry(())) == "Symmetry(order 1)"
    assert repr(shifts[1]) == "Shift(order 3, 6 nodes)"
