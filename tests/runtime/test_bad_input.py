"""Bad arguments are refused before anything is sent, each with a line that says what and how to fix it."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from players import Players, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.topology.registry import build_topology


@pytest.fixture(scope="module")
def group() -> Iterator[Communicator]:
    with Players(schedules_of(build_topology("complete:nodes=2"))) as players:
        yield players.groups[0]


def overlapping(group: Communicator) -> Any:
    data = np.ones(8)
    return group.allreduce(data[:6], data[2:])


def a_list(group: Communicator) -> Any:
    return group.allreduce([1, 2])  # type: ignore[arg-type]  # that is the mistake


CASES: dict[str, tuple[Callable[[Communicator], Any], str]] = {
    "list": (a_list, "is of type list; pass a NumPy array"),
    "type": (lambda g: g.allreduce(np.ones(3, dtype=complex)), "dtype is 'complex128', which the runtime cannot move"),
    "named": (lambda g: g.allreduce(np.ones(3), dtype="bf16"), "has elements of 8 bytes"),
    "order": (lambda g: g.allreduce(np.ones(3, dtype=">f4")), "the byte order of another machine"),
    "op": (lambda g: g.allreduce(np.ones(3), op="xor"), "there is no reduction 'xor'"),
    "factor": (lambda g: g.allreduce(np.ones(3), factor=2), "only premul-sum takes a factor"),
    "premul": (lambda g: g.allreduce(np.ones(3, dtype=int), op="premul-sum"), "factors need a float type"),
    "out": (lambda g: g.allreduce(np.ones(3), np.ones(4)), "it must have 3 of float64"),
    "strided": (lambda g: g.allreduce(np.ones(3), np.ones(6)[::2]), "pass a contiguous array"),
    "overlap": (overlapping, "source and out overlap"),
    "shard": (lambda g: g.allgather(np.ones(3), np.ones(8)), "the shard of rank 0 has 4"),
    "odd": (lambda g: g.reduce_scatter(np.ones(3)), "3 elements cannot be shared equally by 2 members"),
    "root": (lambda g: g.broadcast(np.ones(3), root=7), "no schedule for broadcast with root 7"),
    "relay": (lambda g: g.relay("allreduce", 3, "f32"), "rank 0 takes part in allreduce"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_arguments(group: Communicator, name: str) -> None:
    call, text = CASES[name]
    with pytest.raises(InputError, match=text):
        call(group)
    assert group.records() == []


GROUPS: dict[str, tuple[dict[str, Any], str]] = {
    "rank": ({"rank": 5}, "rank is 5; the group has 2 ranks, so use 0 to 1"),
    "size": ({"size": 3}, "size is 3, but the schedules are for 2 ranks"),
    "no store": ({"store": None}, "store is None; give host:port of rank 0"),
    "timeout": ({"timeout": 0}, "timeout is 0"),
    "store": ({"store": "here"}, "store is 'here'; expected host:port"),
    "link": ({"links": {"nowhere": "127.0.0.1"}}, "nowhere"),
}


@pytest.mark.parametrize("name", GROUPS)
def test_bad_groups(name: str) -> None:
    options, text = GROUPS[name]
    usual: dict[str, Any] = {"rank": 0, "store": MemoryStore(), "timeout": 1}
    schedule = generate(build_topology("complete:nodes=2"), "allreduce")
    with pytest.raises(InputError, match=text):
        Communicator([schedule], **(usual | options))


def test_bad_lists_of_schedules() -> None:
    one, other = (generate(build_topology(f"complete:nodes={count}"), "allreduce") for count in (2, 3))
    for schedules, text in (([], "schedules are empty"), ([one, one], "two schedules"), ([one, other], "one topology")):
        with pytest.raises(InputError, match=text):
            Communicator(schedules, rank=0, store=MemoryStore())


def test_a_closed_group_is_refused(group: Communicator) -> None:
    with Players([generate(build_topology("complete:nodes=2"), "allreduce")]) as players:
        closed = players.groups[0]
        closed.close()
        closed.close()
        with pytest.raises(InputError, match="is closed; make a new Communicator"):
            closed.allreduce(np.ones(3))
    assert repr(group).startswith("Communicator('default', rank 0 of 2: allgather, allreduce")
