"""Ranks that do not do the same fail on all ranks before any limit of time, with a message that says what differs."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from players import LIMIT, Players, give_up_after, outcome, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.topology.registry import build_topology

pytestmark = pytest.mark.slow  # these wait for faults and time limits; a loaded machine may delay them


@pytest.fixture
def players() -> Iterator[Players]:
    with Players(schedules_of(build_topology("ring:nodes=4"))) as made:
        yield made


def ones(count: int, dtype: str = "float32") -> Any:
    return np.ones(count, dtype=dtype)


MISMATCHES: dict[str, tuple[Callable[[Communicator], Any], Callable[[Communicator], Any], str]] = {
    "size": (lambda g: g.allreduce(ones(100)), lambda g: g.allreduce(ones(101)), "allreduce.sum. of 101 f32"),
    "zero": (lambda g: g.allreduce(ones(100)), lambda g: g.allreduce(ones(0)), "allreduce.sum. of 0 f32"),
    "type": (lambda g: g.allreduce(ones(8)), lambda g: g.allreduce(ones(8, "int32")), "allreduce.sum. of 8 i32"),
    "op": (lambda g: g.allreduce(ones(8)), lambda g: g.allreduce(ones(8), op="max"), "allreduce.max. of 8 f32"),
    "collective": (lambda g: g.allreduce(ones(8)), lambda g: g.allgather(ones(2)), "allgather of 8 f32"),
    "root": (lambda g: g.broadcast(ones(8)), lambda g: g.broadcast(ones(8), root=3), "broadcast of 8 f32 with root 3"),
    "waiting": (lambda g: g.reduce(ones(8), root=3), lambda g: g.broadcast(ones(8)), "operation 0 is"),
    "shards": (
        lambda g: g.allgather(ones(2), counts=[2, 2, 2, 2]),
        lambda g: g.allgather(ones(2), counts=[1, 3, 2, 2]),
        "with another schedule or other shard sizes",
    ),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_everyone_fails_before_the_limit(players: Players, name: str) -> None:
    usual, odd, text = MISMATCHES[name]

    def body(group: Communicator) -> str:
        call = odd if group.rank == 2 else usual
        failed: Any = outcome(lambda: call(group).wait(LIMIT))
        if failed is None or isinstance(failed, np.ndarray):  # nothing to wait for: the next one fails
            failed = outcome(lambda: group.allreduce(ones(3)).wait(LIMIT))
        assert isinstance(failed, CommunicationError), failed
        assert str(failed).count("rank") >= 2
        return str(failed)

    for message in players.run(body):
        assert re.search(text, message)
        assert "rank 2" in message
        assert "no progress" not in message


def test_a_failed_group_stays_failed(players: Players) -> None:
    def body(group: Communicator) -> list[str]:
        texts = []
        for _ in range(3):
            count = 5 if group.rank else 6
            texts.append(str(outcome(lambda: group.allreduce(ones(count)).wait(LIMIT))))  # noqa: B023 (called at once)
        return texts

    for texts in players.run(body):
        assert len(set(texts)) == 1
        assert "operation 0 is allreduce" in texts[0]
    states = [record["state"] for group in players.groups for record in group.records()]
    assert states
    assert set(states) == {"failed"}


def test_schedules_are_compared_before_anything_runs() -> None:
    usual = [generate("ring:nodes=3", "allreduce")]
    other = [generate(build_topology("ring:nodes=3"), "allgather")]
    store = MemoryStore()

    def join(rank: int) -> Any:
        return outcome(
            lambda: Communicator(other if rank == 1 else usual, rank=rank, store=store, timeout=LIMIT, secret=b"known")
        )

    with ThreadPoolExecutor(3) as pool:
        failed = list(pool.map(join, range(3), timeout=2 * LIMIT))
    assert all(isinstance(each, CommunicationError) for each in failed)
    assert all("has other schedules or options than rank" in str(each) for each in failed)


def test_a_rank_that_calls_less_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_after(0.3, monkeypatch)
    others_failed = threading.Barrier(3)
    with Players([generate("ring:nodes=3", "allreduce")]) as players:

        def body(group: Communicator) -> str:
            if group.rank == 1:
                others_failed.wait(LIMIT)
            failed = str(outcome(lambda: group.allreduce(ones(3)).wait(LIMIT)))
            if group.rank != 1:
                others_failed.wait(LIMIT)
            return failed

        for text in players.run(body):
            assert "rank 1 has not called it" in text


def test_a_rank_that_leaves_early_is_named() -> None:
    with Players([generate("ring:nodes=4", "allreduce")]) as players:

        def body(group: Communicator) -> str:
            if group.rank == 2:
                group.close()
                return "rank 2 closed the group"
            return str(outcome(lambda: group.allreduce(ones(30_000)).wait(LIMIT)))

        for text in players.run(body):
            assert "rank 2 closed the group" in text


def test_a_rank_may_leave_when_its_part_is_done() -> None:
    root_first = generate(build_topology("ring:nodes=4"), "broadcast:root=0")
    with Players([root_first]) as players:

        def body(group: Communicator) -> float:
            data = np.full(100_000, group.rank, dtype=np.float64)
            if group.rank == 0:
                group.broadcast(data).wait(LIMIT)
                group.close()
                return 0.0
            time.sleep(0.3 * group.rank)
            group.broadcast(data).wait(LIMIT)
            return float(data.sum())

        assert players.run(body) == [0.0] * 4
