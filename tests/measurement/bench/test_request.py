"""Sizes, types and reductions of benchmarks, and their data: what is expected, and what is noticed."""

import numpy as np
import pytest

from forestcoll.demand.collective import Collective
from forestcoll.measurement.bench.patterns import as_type, combined, empty, fill, gathered, values_of, wrong_places
from forestcoll.measurement.bench.request import BenchRequest, elements_named, ops_named, sizes_between
from forestcoll.runtime.engine.elements import ElementType, ReduceOp, bits_to_float
from refusal import refusal


def test_sizes_grow_by_a_factor_or_by_a_step() -> None:
    assert sizes_between(8, 8) == (8,)
    assert sizes_between(8, 100, factor=3) == (8, 24, 72)
    assert sizes_between(8, 30, step=10) == (8, 18, 28)
    assert sizes_between(2**20, 3 * 2**20) == (2**20, 2 * 2**20, 3 * 2**20)


def test_bad_sizes_are_refused() -> None:
    assert "exchange -b and -e" in refusal(sizes_between, 9, 8)
    assert "factor is 1; use 2 or more" in refusal(sizes_between, 1, 8, 1)
    assert "more than 1000 sizes" in refusal(sizes_between, 1, 2**40, None, 1)


def test_types_and_reductions_have_the_names_of_nccl_tests_and_of_forestcoll() -> None:
    assert elements_named("half") == elements_named("f16") == (ElementType.F16,)
    assert len(elements_named("all")) == len(ElementType)
    assert ops_named("mulsum") == ops_named("premul-sum") == (ReduceOp.PREMUL_SUM,)
    assert len(ops_named("all")) == len(ReduceOp)


@pytest.mark.parametrize("text", ["", "floaty", "complex", "ALL"])
def test_unknown_names_are_refused(text: str) -> None:
    assert "no such element type" in refusal(elements_named, text)
    assert "no such reduction" in refusal(ops_named, text)


def test_a_request_is_checked() -> None:
    assert "0 sizes" in refusal(BenchRequest, ())
    assert "0 iterations" in refusal(BenchRequest, (8,), iterations=0)
    assert "library is 'nccl'" in refusal(BenchRequest, (8,), other_library="nccl")


def test_bus_bandwidth_is_that_of_nccl_tests() -> None:
    assert Collective.ALLREDUCE.busbw_factor(4) == 1.5
    assert Collective.ALLGATHER.busbw_factor(4) == Collective.REDUCE_SCATTER.busbw_factor(4) == 0.75
    assert Collective.BROADCAST.busbw_factor(4) == Collective.REDUCE.busbw_factor(4) == 1


CASES = [(element, op) for element in ElementType for op in ReduceOp if element.is_float or op != ReduceOp.PREMUL_SUM]


@pytest.mark.parametrize(("element", "op"), CASES)
def test_sums_are_exact_in_every_type(element: ElementType, op: ReduceOp) -> None:
    for members in (2, 3, 8, 32):
        expected = combined(members, element, op)
        if op is not ReduceOp.AVG:
            typed = as_type(expected, element)
            back = bits_to_float(typed) if element is ElementType.BF16 else typed
            assert (back.astype(np.float64) == expected).all(), members
        assert len(set(expected.tolist())) > 1, members  # it is not constant


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
