"""Several operations at a time, several groups at a time, and groups that leave nothing behind."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from players import LIMIT, NETWORKS, Players, steps_of, wait_until

from forestcoll.algorithms.generate import generate
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.engine import plan as plans
from forestcoll.topology.registry import build_topology

pytestmark = pytest.mark.slow  # these wait for faults and time limits; a loaded machine may delay them


def test_operations_in_flight_end_in_any_order_of_waiting() -> None:
    def body(group: Communicator) -> None:
        sizes = [1, 50_000, 3, 0, 20_000, 7, 1000]
        works = []
        for number, size in enumerate(sizes * 3):
            data = np.full(size, group.rank + number, dtype=np.int64)
            works.append((number, size, group.allreduce(data), group.allgather(data)))
        for number, size, summed, gathered in reversed(works):
            total = summed.wait(LIMIT)
            assert total is not None
            assert (total == sum(range(group.size)) + number * group.size).all()
            everything = gathered.wait(LIMIT)
            assert everything is not None
            assert (everything == np.repeat(np.arange(group.size) + number, size)).all()

    with Players(NETWORKS["boxes"]()) as players:
        players.run(body)


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


def test_groups_work_at_the_same_time() -> None:
    store = MemoryStore()
    with (
        Players(NETWORKS["ring"](), store=store, name="one") as one,
        Players(steps_of(build_topology("circulant:nodes=5,offsets=1+2")), store=store, name="other") as other,
    ):

        def body(rank: int) -> None:
            for number in range(10):
                mine = one.groups[rank].allreduce(np.full(30_000, number))
                also = other.groups[rank].allreduce(np.full(20_000, -number))
                for work, value in ((also, -5 * number), (mine, 5 * number)):
                    total = work.wait(LIMIT)
                    assert total is not None
                    assert (total == value).all()

        threads = [threading.Thread(target=body, args=(rank,)) for rank in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
            assert not thread.is_alive()


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
        with Players([generate(build_topology("ring:nodes=4"), "allreduce")]) as players:
            players.run(lambda group: group.allreduce(np.ones(100_000)).wait(LIMIT))

    once()
    before = len(os.listdir("/proc/self/fd")), native_threads()  # noqa: PTH208 (a count)
    for _ in range(5):
        once()
    wait_until(lambda: native_threads() <= before[1])
    assert (len(os.listdir("/proc/self/fd")), native_threads()) <= before  # noqa: PTH208


def native_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))
