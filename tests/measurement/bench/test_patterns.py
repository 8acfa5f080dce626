"""The data that benchmarks check: what is expected, and what is noticed."""

import numpy as np
import pytest

from forestcoll.measurement.bench.patterns import as_type, combined, empty, fill, gathered, values_of, wrong_places
from forestcoll.runtime.engine.elements import ElementType, ReduceOp, bits_to_float

CASES = [(element, op) for element in ElementType for op in ReduceOp if element.is_float or op != ReduceOp.PREMUL_SUM]


@pytest.mark.parametrize("members", [2, 3, 8, 32])
@pytest.mark.parametrize(("element", "op"), CASES)
def test_sums_are_exact_in_every_type(members: int, element: ElementType, op: ReduceOp) -> None:
    expected = combined(members, element, op)
    if op is not ReduceOp.AVG:
        typed = as_type(expected, element)
        back = bits_to_float(typed) if element is ElementType.BF16 else typed
        assert (back.astype(np.float64) == expected).all()
    assert len(set(expected.tolist())) > 1  # it is not constant


@pytest.mark.parametrize(("element", "op"), CASES)
def test_a_missing_member_and_a_wrong_place_are_noticed(element: ElementType, op: ReduceOp) -> None:
    right, other = empty(element, 20_000), empty(element, 20_000)
    fill(right, combined(4, element, op), element)
    assert wrong_places(right, right, element, op) == 0
    fill(other, combined(3, element, op), element)
    assert wrong_places(other, right, element, op) > 100
    fill(other, combined(4, element, op), element, begin=64)
    assert wrong_places(other, right, element, op) > 100


def test_one_wrong_element_is_counted() -> None:
    for element in ElementType:
        right = gathered([100, 0, 50], element)
        wrong = right.copy()
        wrong[70] += 1
        assert wrong_places(wrong, right, element, ReduceOp.SUM) == 1


def test_members_have_different_data() -> None:
    one, other = (values_of(member, 8, ElementType.F32, ReduceOp.SUM) for member in (0, 1))
    assert (one != other).mean() > 0.9


def test_averages_of_floats_may_differ_in_the_last_place_only() -> None:
    right = np.array([1 / 3, 2 / 3], dtype=np.float32)
    near, far = np.nextafter(right, np.float32(1)), right * np.float32(1.00001)
    assert wrong_places(near, right, ElementType.F32, ReduceOp.AVG) == 0
    assert wrong_places(far, right, ElementType.F32, ReduceOp.AVG) == 2
    assert wrong_places(np.array([np.nan, 0], dtype=np.float32), right, ElementType.F32, ReduceOp.AVG) == 2
