"""Processes that are killed or stopped, and strangers: every rank gets an error within its limit, and none hangs."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from players import LIMIT, Players, Processes, outcome

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Communicator, MemoryStore, TcpStore, connecting

pytestmark = pytest.mark.slow  # these wait for faults and time limits; a loaded machine may delay them


@pytest.mark.parametrize(("ranks", "culprit"), [(2, 0), (2, 1), (3, 0), (4, 2), (8, 7)])
@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_faults_of_processes_are_noticed(ranks: int, culprit: int, fault: signal.Signals) -> None:
    """A process that ends is noticed at once, and one that is stopped after the limit."""
    with Processes(ranks, timeout=3) as running:
        running.processes[culprit].send_signal(fault)
        begin = time.time()
        for report in running.reports([rank for rank in range(ranks) if rank != culprit], 20):
            seen, _, text = report.partition(" ")
            if fault == signal.SIGSTOP:
                assert 2.5 < float(seen) - begin < 3 + 2
                assert "no progress for 3 s" in text
                assert f"rank {culprit} does not answer" in text
            else:
                assert float(seen) - begin < 2
                assert f"the process of rank {culprit} ended or was killed" in text
                assert "operation" in text


SENDER_AND_READER = """
import sys
import numpy as np
from forestcoll.algorithms.generate import generate
from forestcoll.runtime import Communicator, TcpStore

rank = int(sys.argv[1])
schedule = generate("complete:nodes=2", "allgather")
group = Communicator([schedule], rank=rank, store=TcpStore(sys.argv[2], rank=rank + 1))
group.allgather(np.ones(1)).wait()
if rank:
    input()
works = [group.allgather(np.ones(count)) for count in (100_000, *([300] * 20))]
print("called", flush=True)
try:
    works[0].wait(60)
except Exception as error:
    print(error)
"""


def test_a_sender_that_is_killed_before_its_chunks_are_read_is_named() -> None:
    """Where the first chunk cannot be read any more, the frames behind it are not taken for wrong ones."""
    store = TcpStore("127.0.0.1:0", rank=0)
    command = [sys.executable, "-c", SENDER_AND_READER]
    reader, sender = (
        subprocess.Popen(  # noqa: S603 (our own script)
            [*command, str(rank), f"127.0.0.1:{store.port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    )
    try:
        assert reader.stdout.readline() == "called\n"  # type: ignore[union-attr]
        reader.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, reader.pid, os.WSTOPPED)
        sender.stdin.write("\n")  # type: ignore[union-attr]
        sender.stdin.flush()  # type: ignore[union-attr]
        assert sender.stdout.readline() == "called\n"  # type: ignore[union-attr]
        time.sleep(0.3)  # its thread sends
        sender.kill()
        sender.wait(LIMIT)
        reader.send_signal(signal.SIGCONT)
        assert "the process of rank 1 ended or was killed" in reader.communicate(timeout=LIMIT)[0]
    finally:
        for process in (reader, sender):
            process.kill()
            process.communicate(timeout=LIMIT)
        store.close()


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
        with Players([generate("ring:nodes=4", "allreduce")]) as players:
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
    store, schedule = MemoryStore(), generate("complete:nodes=2", "allreduce")

    def join(secret: bytes) -> Any:
        rank = int(secret == b"one")
        return outcome(lambda: Communicator([schedule], rank=rank, store=store, timeout=1, secret=secret))

    with ThreadPoolExecutor(2) as threads:
        assert all(isinstance(each, CommunicationError) for each in threads.map(join, (b"one", b"other")))


def test_close_returns_while_operations_run() -> None:
    with Players([generate("ring:nodes=3", "allreduce")]) as players:

        def body(group: Communicator) -> float:
            if group.rank == 1:
                time.sleep(0.5)  # and never calls it
            else:
                group.allreduce(np.ones(100_000))
            begin = time.monotonic()
            group.close()
            return time.monotonic() - begin

        assert max(players.run(body)) < 7
