"""Sizes, types and reductions as the command line writes them."""

import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.measurement.bench.request import BenchRequest, busbw_factor, elements_named, ops_named, sizes_between
from forestcoll.runtime.engine.elements import ElementType, ReduceOp


def test_sizes_grow_by_a_factor_or_by_a_step() -> None:
    assert sizes_between(8, 8) == (8,)
    assert sizes_between(8, 100, factor=3) == (8, 24, 72)
    assert sizes_between(8, 30, step=10) == (8, 18, 28)
    assert sizes_between(2**20, 3 * 2**20) == (2**20, 2 * 2**20, 3 * 2**20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((9, 8), "exchange -b and -e"),
        ((1, 8, 1), "factor is 1; use 2 or more"),
        ((1, 2**40, None, 1), "more than 1000 sizes"),
    ],
)
def test_bad_sizes_are_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sizes_between(*arguments)


def test_types_and_reductions_have_the_names_of_nccl_tests_and_of_forestcoll() -> None:
    assert elements_named("half") == elements_named("f16") == (ElementType.F16,)
    assert len(elements_named("all")) == len(ElementType)
    assert ops_named("mulsum") == ops_named("premul-sum") == (ReduceOp.PREMUL_SUM,)
    assert len(ops_named("all")) == len(ReduceOp)


@pytest.mark.parametrize("text", ["", "floaty", "complex", "ALL"])
def test_unknown_names_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="no such element type"):
        elements_named(text)
    with pytest.raises(InputError, match="no such reduction"):
        ops_named(text)


def test_a_request_is_checked() -> None:
    with pytest.raises(InputError, match="0 sizes"):
        BenchRequest(())
    with pytest.raises(InputError, match="0 iterations"):
        BenchRequest((8,), iterations=0)
    with pytest.raises(InputError, match="library is 'nccl'"):
        BenchRequest((8,), other_library="nccl")


def test_bus_bandwidth_is_that_of_nccl_tests() -> None:
    assert busbw_factor(Collective.ALLREDUCE, 4) == 1.5
    assert busbw_factor(Collective.ALLGATHER, 4) == busbw_factor(Collective.REDUCE_SCATTER, 4) == 0.75
    assert busbw_factor(Collective.BROADCAST, 4) == busbw_factor(Collective.REDUCE, 4) == 1
