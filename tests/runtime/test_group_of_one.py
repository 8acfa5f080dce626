"""A group of one rank: every collective is a copy, and nothing is sent."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, data_for, ops_for

from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, bits_to_float, float_to_bits
from networks import examples


@pytest.fixture(scope="module")
def alone() -> Iterator[Communicator]:
    with Communicator([], rank=0, size=1) as group:
        yield group


def scaled(data: AnyArray, element: ElementType, factor: float) -> AnyArray:
    if element is ElementType.BF16:
        return float_to_bits(bits_to_float(data) * np.float32(factor))
    wide = data.astype(np.float32) if element is ElementType.F16 else data
    with np.errstate(over="ignore"):
        return (wide * wide.dtype.type(factor)).astype(data.dtype)


@examples(60)
@given(
    element=st.sampled_from(ElementType),
    number=st.integers(0, 5),
    size=st.sampled_from([0, 1, 7, 10_000]),
    in_place=st.booleans(),
)
def test_results_are_copies(
    alone: Communicator, element: ElementType, number: int, size: int, *, in_place: bool
) -> None:
    ops = ops_for(element)
    op = ops[number % len(ops)]
    data = data_for(element, size, 3)
    expected = scaled(data, element, 0.7) if op is ReduceOp.PREMUL_SUM else data.copy()
    moving: dict[str, Any] = {"dtype": "bf16"} if element is ElementType.BF16 else {}
    reducing = moving | {"op": op, "factor": 0.7 if op is ReduceOp.PREMUL_SUM else 1.0}
    for call in (alone.reduce_scatter, alone.reduce, alone.allreduce):
        mine = data.copy()
        result = call(mine, mine if in_place else None, **reducing).wait(LIMIT)
        assert result is not None
        assert result.tobytes() == expected.tobytes()
        assert in_place or mine.tobytes() == data.tobytes()
    calls = (alone.allgather, alone.broadcast, alone.all_to_all, alone.gather, alone.scatter)
    for result in (call(data, **moving).wait(LIMIT) for call in calls):
        assert result is not None
        assert result.tobytes() == data.tobytes()


def test_counts_and_shapes(alone: Communicator) -> None:
    data = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(np.asarray(alone.allreduce(data.T).wait(LIMIT)), data.T)
    assert np.array_equal(np.asarray(alone.allgather(data, counts=[6]).wait(LIMIT)), np.arange(6.0))
    assert np.array_equal(np.asarray(alone.broadcast(data, np.empty_like(data)).wait(LIMIT)), data)
    with pytest.raises(InputError, match="the shard of rank 0 has 5"):
        alone.allgather(data, counts=[5])
    records = alone.records()
    assert records[-1]["collective"] == "broadcast"
    assert records[-1]["bytes"] == 48
    assert {record["state"] for record in records} == {"done"}


def test_the_size_must_be_said() -> None:
    with pytest.raises(InputError, match=r"schedules are empty; .* or size=1 for a group of one"):
        Communicator([], rank=0)
    with pytest.raises(InputError, match="rank is 1; the group has 1 ranks, so use 0 to 0"):
        Communicator([], rank=1, size=1)
