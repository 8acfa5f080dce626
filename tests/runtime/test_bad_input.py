"""Bad arguments are refused in one line before anything is sent; a group of one rank only copies."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, Players, data_for, ops_for, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, bits_to_float, float_to_bits
from forestcoll.topology.registry import build_topology
from networks import examples
from refusal import refusal


@pytest.fixture(scope="module")
def group() -> Iterator[Communicator]:
    with Players(schedules_of(build_topology("complete:nodes=2"))) as players:
        yield players.groups[0]


OVERLAPPING = np.ones(8)
CASES: dict[str, tuple[Callable[[Communicator], Any], str]] = {
    "list": (lambda g: g.allreduce([1, 2]), "is of type list; pass a NumPy array"),  # type: ignore[arg-type]  # the mistake
    "type": (lambda g: g.allreduce(np.ones(3, dtype=complex)), "dtype is 'complex128', which the runtime cannot move"),
    "named": (lambda g: g.allreduce(np.ones(3), dtype="bf16"), "has elements of 8 bytes"),
    "order": (lambda g: g.allreduce(np.ones(3, dtype=">f4")), "the byte order of another machine"),
    "op": (lambda g: g.allreduce(np.ones(3), op="xor"), "there is no reduction 'xor'"),
    "factor": (lambda g: g.allreduce(np.ones(3), factor=2), "only premul-sum takes a factor"),
    "premul": (lambda g: g.allreduce(np.ones(3, dtype=int), op="premul-sum"), "factors need a float type"),
    "out": (lambda g: g.allreduce(np.ones(3), np.ones(4)), "it must have 3 of float64"),
    "strided": (lambda g: g.allreduce(np.ones(3), np.ones(6)[::2]), "pass a contiguous array"),
    "overlap": (lambda g: g.allreduce(OVERLAPPING[:6], OVERLAPPING[2:]), "source and out overlap"),
    "shard": (lambda g: g.allgather(np.ones(3), np.ones(8)), "the shard of rank 0 has 4"),
    "odd": (lambda g: g.reduce_scatter(np.ones(3)), "3 elements cannot be shared equally by 2 members"),
    "root": (lambda g: g.broadcast(np.ones(3), root=7), "no schedule for broadcast with root 7"),
    "relay": (lambda g: g.relay("allreduce", 3, "f32"), "rank 0 takes part in allreduce"),
}


def test_bad_arguments(group: Communicator) -> None:
    for name, (call, text) in CASES.items():
        assert text in refusal(call, group), name
        assert group.records() == []


GROUPS: dict[str, tuple[dict[str, Any], str]] = {
    "rank": ({"rank": 5}, "rank is 5; the group has 2 ranks, so use 0 to 1"),
    "size": ({"size": 3}, "size is 3, but the schedules are for 2 ranks"),
    "no store": ({"store": None}, "store is None; give host:port of rank 0"),
    "timeout": ({"timeout": 0}, "timeout is 0"),
    "store": ({"store": "here"}, "store is 'here'; expected host:port"),
    "link": ({"links": {"nowhere": "127.0.0.1"}}, "nowhere"),
}


def test_bad_groups() -> None:
    usual: dict[str, Any] = {"rank": 0, "store": MemoryStore(), "timeout": 1}
    one, other = (generate(f"complete:nodes={count}", "allreduce") for count in (2, 3))
    for name, (options, text) in GROUPS.items():
        assert text in refusal(Communicator, [one], **usual | options), name
    for schedules, text in (([], "size=1 for a group"), ([one, one], "two schedules"), ([one, other], "one topology")):
        with pytest.raises(InputError, match=text):
            Communicator(schedules, rank=0, store=MemoryStore())


def test_a_closed_group_is_refused(group: Communicator) -> None:
    with Players([generate("complete:nodes=2", "allreduce")]) as players:
        closed = players.groups[0]
        closed.close()
        closed.close()
        assert "is closed; make a new Communicator" in refusal(closed.allreduce, np.ones(3))
    assert repr(group).startswith("Communicator('default', rank 0 of 2: allgather, allreduce")


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
    assert "the shard of rank 0 has 5" in refusal(alone.allgather, data, counts=[5])
    records = alone.records()
    assert records[-1]["collective"] == "broadcast"
    assert records[-1]["bytes"] == 48
    assert {record["state"] for record in records} == {"done"}
