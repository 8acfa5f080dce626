"""Processes that are killed or stopped, and strangers: every rank gets an error within its limit, and none hangs."""

import signal
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from players import LIMIT, Players, Processes, outcome

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Communicator, MemoryStore, connecting
from forestcoll.topology.registry import build_topology

pytestmark = pytest.mark.slow  # these wait for faults and time limits; a loaded machine may delay them


def test_a_killed_process_is_noticed_at_once() -> None:
    with Processes(4, timeout=20) as running:
        running.signal(2, signal.SIGKILL)
        begin = time.time()
        for report in running.reports([0, 1, 3], 10):
            seen, _, text = report.partition(" ")
            assert float(seen) - begin < 2
            assert "the process of rank 2 ended or was killed" in text
            assert "operation" in text


def test_a_stopped_process_is_noticed_after_the_timeout() -> None:
    with Processes(4, timeout=1.5) as running:
        running.signal(1, signal.SIGSTOP)
        begin = time.time()
        for report in running.reports([0, 2, 3], 15):
            seen, _, text = report.partition(" ")
            assert 1.0 < float(seen) - begin < 1.5 + 2
            assert "no progress for 1.5 s" in text
            assert "rank 1 does not answer" in text


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_faults_in_groups_of_other_sizes(ranks: int, fault: signal.Signals) -> None:
    for culprit in {0, ranks - 1}:
        with Processes(ranks, timeout=3) as running:
            running.signal(culprit, fault)
            reports = running.reports([rank for rank in range(ranks) if rank != culprit], 20)
            assert all(f"rank {culprit} " in report for report in reports)


def test_a_missing_rank_is_named() -> None:
    schedule = generate(build_topology("ring:nodes=3"), "allreduce")
    begin = time.monotonic()
    with pytest.raises(CommunicationError, match=r"rank 1 did not come within 0\.5 s"):
        Communicator([schedule], rank=0, store=MemoryStore(), timeout=0.5)
    assert time.monotonic() - begin < 5


def test_strangers_do_not_get_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_HELLO_SECONDS", 0.2)
    ports, done = catch_ports(monkeypatch), threading.Event()

    def disturb() -> None:
        kept = []
        for number in range(400):
            if done.is_set():
                break
            for port in list(ports):
                stranger = socket.socket()
                stranger.settimeout(0.2)
                kept.append(stranger)
                with suppress(OSError):
                    stranger.connect(("127.0.0.1", port))
                    stranger.sendall([b"", b"GET / HTTP/1.0\r\n\r\n", b"x" * 5000][number % 3])
            time.sleep(0.001)
        for stranger in kept:
            stranger.close()

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        with Players([generate(build_topology("ring:nodes=4"), "allreduce")]) as players:
            results = players.run(lambda group: group.allreduce(np.ones(1000)).wait(LIMIT))
            assert all((result == 4).all() for result in results)
    finally:
        done.set()
        thread.join(LIMIT)


def catch_ports(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    ports: list[int] = []
    usual = socket.create_server

    def watched(*args: Any, **options: Any) -> socket.socket:
        made = usual(*args, **options)
        ports.append(made.getsockname()[1])
        return made

    monkeypatch.setattr(socket, "create_server", watched)
    return ports


def test_another_secret_is_refused() -> None:
    store, schedule = MemoryStore(), generate(build_topology("complete:nodes=2"), "allreduce")
    failed: list[Any] = [None, None]

    def join(rank: int) -> None:
        failed[rank] = outcome(
            lambda: Communicator([schedule], rank=rank, store=store, timeout=1, secret=b"one" if rank else b"other")
        )

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert all(isinstance(each, CommunicationError) for each in failed)


def test_close_returns_while_operations_run() -> None:
    with Players([generate(build_topology("ring:nodes=3"), "allreduce")]) as players:

        def body(group: Communicator) -> float:
            if group.rank == 1:
                time.sleep(0.5)  # and never calls it
            else:
                group.allreduce(np.ones(100_000))
            begin = time.monotonic()
            group.close()
            return time.monotonic() - begin

        assert max(players.run(body)) < 7
