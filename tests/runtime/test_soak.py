"""Several operations at a time, and long runs with faults at random moments; none hangs, lies or grows."""

import ctypes
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from players import LIMIT, NETWORKS, Players, outcome, wait_until

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine import plan as plans
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.runtime.engine.work import Work
from forestcoll.topology.registry import build_topology

pytestmark = pytest.mark.slow  # these wait for faults and time limits; a loaded machine may delay them


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
    whole, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return (whole - shared) * 4096  # pages for other ranks have a bound of their own


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


def test_faults_at_random_moments() -> None:
    draw = random.Random(7)  # noqa: S311 (a test)
    schedules = {ranks: [generate(f"ring:nodes={ranks}", "allreduce")] for ranks in range(3, 7)}
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


def test_a_slow_rank_posts_late() -> None:
    def body(group: Communicator) -> Any:
        works = []
        for number in range(20):
            if group.rank == number % group.size:
                time.sleep(0.02)
            works.append(group.allreduce(np.full(5000, number, dtype=np.int32)))
        return [int(total[0]) for total in (work.wait(LIMIT) for work in works) if total is not None]

    with Players(NETWORKS["ring"]()) as players:
        for result in players.run(body):
            assert result == [5 * number for number in range(20)]


def test_a_forgotten_operation_keeps_its_memory() -> None:
    def body(group: Communicator) -> Any:
        for number in range(30):
            group.allreduce(np.full(10_000, number))
        return group.allreduce(np.ones(3)).wait(LIMIT)

    with Players(NETWORKS["ring"]()) as players:
        assert all((result == 5).all() for result in players.run(body))


def test_a_small_staging_memory_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LEAST_WINDOW", "_MOST_WINDOW"):
        monkeypatch.setattr(plans, name, 2**12)

    def body(group: Communicator) -> Any:
        if group.rank in (1, 4):
            return group.relay("allreduce", 300_000, "f64").wait(LIMIT)
        return group.allreduce(np.full(300_000, group.rank, dtype=np.float64)).wait(LIMIT)

    with Players(NETWORKS["relays"]()) as players:
        for result in players.run(body):
            assert result is None or (result == 0 + 2 + 3 + 5).all()


def test_pacing_keeps_to_the_rate() -> None:
    topology = build_topology("complete:nodes=2,bandwidth=1/100")  # GB/s: 10 MB/s
    schedule = generate(topology)
    data = np.ones(250_000, dtype=np.float32)  # a shard of 1 MB: 100 ms each way

    def body(group: Communicator) -> float:
        group.allgather(data).wait(LIMIT)
        begin = time.monotonic()
        for _ in range(3):
            group.allgather(data).wait(LIMIT)
        return time.monotonic() - begin

    with Players([schedule], pacing=True) as players:
        assert min(players.run(body)) > 0.15


def test_groups_leave_no_threads_sockets_or_memory() -> None:
    def once() -> None:
        with Players([generate("ring:nodes=4", "allreduce")]) as players:
            players.run(lambda group: group.allreduce(np.ones(100_000)).wait(LIMIT))

    once()
    before = len(os.listdir("/proc/self/fd")), native_threads()  # noqa: PTH208 (a count)
    for _ in range(5):
        once()
    wait_until(lambda: native_threads() <= before[1])
    assert (len(os.listdir("/proc/self/fd")), native_threads()) <= before  # noqa: PTH208


def native_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))
