"""Long runs: mixed operations in flight, and faults at random moments; neither hangs, lies or grows."""

import ctypes
import random
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from players import LIMIT, NETWORKS, Players, outcome

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.runtime.engine.work import Work
from forestcoll.topology.registry import build_topology


def start(group: Communicator, kind: int, size: int, value: int) -> tuple[Work, int]:
    """Start one operation, and return it with the sum of its result."""
    everyone = group.size * (group.size - 1) // 2 + group.size * value
    data = np.full(size, group.rank + value, dtype=np.int64)
    if kind == 0:
        return group.allreduce(data), everyone * size
    if kind == 1:
        return group.allgather(data), everyone * size
    if kind == 2:
        return group.reduce_scatter(np.tile(data, group.size)), everyone * size
    return group.broadcast(data), value * size


def resident() -> int:
    ctypes.CDLL(None).malloc_trim(0)  # what was freed does not count
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring", "boxes"])
def test_mixed_operations_do_not_grow(name: str) -> None:
    def body(group: Communicator, seed: int) -> None:
        draw = random.Random(seed)  # noqa: S311 (a test)
        waiting: list[tuple[Work, int]] = []
        for number in range(300):
            size = draw.choice([0, 1, 100, 5000, 60_000])
            waiting.append(start(group, draw.randrange(4), size, number))
            while waiting and (len(waiting) > 8 or draw.random() < 0.3):
                work, total = waiting.pop(0)
                result = work.wait(LIMIT)
                assert result is not None
                assert int(result.sum()) == total
        for work, _ in waiting:
            work.wait(LIMIT)

    with Players(NETWORKS[name]()) as players:
        players.run(lambda group: body(group, 0))
        before, after = resident(), []
        for seed in range(1, 6):
            players.run(lambda group, seed=seed: body(group, seed))  # type: ignore[misc]  # mypy cannot infer it
            after.append(resident())
        # One round uses up to 50 MB more than another. A leak would be in all of the last rounds.
        assert min(after[-3:]) - before < 64 << 20


@pytest.mark.slow
def test_faults_at_random_moments() -> None:
    draw = random.Random(7)  # noqa: S311 (a test)
    schedules = {ranks: [generate(build_topology(f"ring:nodes={ranks}"), "allreduce")] for ranks in range(3, 7)}
    for _ in range(60):
        ranks, late = draw.randrange(3, 7), draw.random() * 0.05
        culprit = draw.randrange(ranks)
        check_a_fault(Players(schedules[ranks]), culprit, late, draw.choice(["close", "size", "type"]))


def total_of(group: Communicator, data: AnyArray) -> AnyArray | None:
    return group.allreduce(data).wait(LIMIT)


def check_a_fault(players: Players, culprit: int, late: float, fault: str) -> None:
    def body(group: Communicator) -> Any:
        data, end = np.ones(20_000, dtype=np.float32), time.monotonic() + late
        while True:
            if group.rank == culprit and time.monotonic() > end:
                if fault == "close":
                    group.close(0)
                    return outcome(partial(group.allreduce, data))
                data = data[:-1] if fault == "size" else data.astype(np.int32)
            result = outcome(partial(total_of, group, data))
            if isinstance(result, Exception):
                return result
            assert (result == group.size).all()

    with players:
        for result in players.run(body):
            assert isinstance(result, CommunicationError | InputError), result
            assert "no progress" not in str(result)  # they do not wait for the limit of the group
