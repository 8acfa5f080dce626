"""One rank of a group that a fault hits: random operations with known results, and what the rank at fault does.

`soak/faults.py` forks one process for each rank and calls `play` in it.
"""

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Communicator, Work, member
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.schedule.schedule import Schedule

REDUCING = ("allreduce", "reduce-scatter", "reduce")
COLLECTIVES = (*REDUCING, "allgather", "broadcast")
TYPES = ("int16", "int32", "int64", "float32", "float64")
SIZES = (1, 1, 100, 3000, 20_000, 100_000)


class FolderStore:
    """A store in a folder: it needs no process, so that any rank may die."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`."""
        unfinished = self._folder / f"unfinished-{os.getpid()}"
        unfinished.write_bytes(value)
        unfinished.rename(self._path(key))

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self._path(key).exists():
                return self._path(key).read_bytes()
            time.sleep(0.002)
        raise CommunicationError(f"{key} is not there")

    def _path(self, key: str) -> Path:
        return self._folder / key.replace("/", "+")


@dataclass(frozen=True)
class Run:
    """One run of the campaign, as every process has it.

    Attributes:
        seed: repeats the run.
        network: the topology, as the command line takes it, or `steps` and the number of ranks.
        ranks: how many there are.
        fault: the name of what goes wrong.
        culprit: the rank at fault.
        moment: the number of the operation at which it goes wrong.
        delay: seconds that some faults wait after that.
        window: how many operations are in flight.
        operations: how many there are.
        timeout: the group's limit, in seconds.
    """

    seed: int
    network: str
    ranks: int
    fault: str
    culprit: int
    moment: int
    delay: float
    window: int
    operations: int
    timeout: float


@dataclass(frozen=True)
class Call:
    """One operation. No two of a run are alike, as `count` differs."""

    index: int
    collective: str
    count: int
    dtype: str
    op: str
    root: int = 0


def drawing(seed: int) -> Random:
    """Return a source of random choices, the same for the same seed."""
    return Random(seed)  # noqa: S311 (a test, no secret)


def random_call(draw: Random, index: int) -> Call:
    """Return a random operation, unlike those with near numbers."""
    count = draw.choice(SIZES) + index % 64
    return Call(index, draw.choice(COLLECTIVES), count, draw.choice(TYPES), draw.choice(["sum", "max"]))


def calls_of(run: Run) -> list[Call]:
    """Return the operations of a run.

    The last one is an allreduce, because the root of a broadcast ends without an answer from the other ranks.
    """
    draw = drawing(run.seed)
    calls = [random_call(draw, index) for index in range(run.operations)]
    calls[-1] = replace(calls[-1], collective="allreduce")
    if run.fault in ("op", "collective"):
        calls[run.moment] = replace(calls[run.moment], collective="allreduce")
    if run.fault == "kill-reading":
        calls[run.moment] = replace(calls[run.moment], collective="allreduce", count=2**19)
    if run.fault == "root":
        calls[run.moment] = replace(calls[run.moment], collective="broadcast")
    return calls


class Player:
    """What one rank does."""

    def __init__(self, run: Run, rank: int, folder: Path) -> None:
        self.run, self.rank, self.folder = run, rank, folder
        self.is_culprit = rank == run.culprit
        self.sockets: list[socket.socket] = []
        self.waiting: list[tuple[Call, Work]] = []
        self.wrong: str | None = None
        self.called: float | None = None  # when it called the operation at which something goes wrong

    def play(self, schedules: Sequence[Schedule], others: Sequence[Schedule]) -> None:
        """Run everything, and write down how it ended."""
        before = counts()
        result: dict[str, Any] = {"error": None}
        group = None
        try:
            group = self._join(schedules, others)
            for call in self._calls():
                self._before(group, call)
                self._start(group, call)
            while self.waiting:
                self._finish()
        except CommunicationError as error:
            result["error"] = str(error)
        result |= {"time": time.time(), "wrong": self.wrong, "called": self.called}
        if group is not None:
            begin = time.monotonic()
            group.close()
            result["closing"] = time.monotonic() - begin
            result["pending"] = sum(not work.is_done() for _, work in self.waiting)
            result["left"] = self._left(before)
        (self.folder / f"result-{self.rank}.tmp").write_text(json.dumps(result))
        (self.folder / f"result-{self.rank}.tmp").rename(self.folder / f"result-{self.rank}")

    def _left(self, before: tuple[int, int]) -> list[int]:
        """Return how many threads and descriptors the group has left behind."""
        for each in self.sockets:
            each.close()
        return [now - then for now, then in zip(counts(), before, strict=True)]

    def _join(self, schedules: Sequence[Schedule], others: Sequence[Schedule]) -> Communicator:
        fault = self.run.fault if self.is_culprit else ""
        if fault == "absent":
            self._mark()
            os._exit(0)
        if fault in ("schedule", "secret"):
            self._mark()
        if fault in ("link", "noise"):
            self._keep_sockets()
        return Communicator(
            others if fault == "schedule" else schedules,
            rank=self.rank,
            store=FolderStore(self.folder),
            timeout=self.run.timeout,
            secret=b"guess" if fault == "secret" else None,
            dump=self.folder,
        )

    def _keep_sockets(self) -> None:
        usual = member._detached  # noqa: SLF001 (to break a connection from outside)

        def keep(connection: socket.socket) -> int:
            self.sockets.append(connection.dup())
            return usual(connection)

        member._detached = keep  # noqa: SLF001

    def _calls(self) -> Iterator[Call]:
        calls, moment = calls_of(self.run), self.run.moment
        if self.is_culprit and self.run.fault == "order":
            calls[moment], calls[moment + 1] = calls[moment + 1], calls[moment]
        if self.is_culprit and self.run.fault == "skip":
            del calls[moment]
        yield from calls

    def _before(self, group: Communicator, call: Call) -> None:
        if call.index == self.run.moment:
            self.called = time.time()
        if not self.is_culprit:
            return
        if self.run.fault == "slow":
            time.sleep(min(self.run.delay, self.run.timeout / 4))
        if call.index == self.run.moment or (self.run.fault in ("order", "skip") and call.index == self.run.moment + 1):
            self._mark()
            if self.run.fault in ACTS:
                ACTS[self.run.fault](self, group)

    def _mark(self) -> None:
        """Write down when the fault happened."""
        path = self.folder / "fault-time"
        if not path.exists():
            path.write_text(repr(time.time()))

    def _start(self, group: Communicator, call: Call) -> None:
        if self.is_culprit and call.index == self.run.moment and self.run.fault in CHANGES:
            call = CHANGES[self.run.fault](call, self.run)
        self.waiting.append((call, self.call(group, call)))
        if len(self.waiting) >= self.run.window:
            self._finish()

    def call(self, group: Communicator, call: Call) -> Work:
        """Start an operation."""
        data = pattern(call) + np.dtype(call.dtype).type(3 * self.rank)
        if call.collective == "allgather":
            return group.allgather(data)
        if call.collective == "broadcast":
            return group.broadcast(data, root=call.root)
        if call.collective == "reduce":
            return group.reduce(data, root=self.run.ranks - 1, op=call.op)
        if call.collective == "reduce-scatter":
            return group.reduce_scatter(np.tile(data, self.run.ranks), op=call.op)
        return group.allreduce(data, op=call.op)

    def _finish(self) -> None:
        self.check(*self.waiting[0])
        self.waiting.pop(0)

    def check(self, call: Call, work: Work) -> None:
        """Wait for an operation, and note if its result is wrong."""
        result = work.wait(10 * self.run.timeout)
        expected = self._expected(call)
        is_right = result is None if expected is None else result is not None and np.array_equal(result, expected)
        if not is_right:
            self.wrong = f"{call} is wrong"

    def _expected(self, call: Call) -> AnyArray | None:
        plain, ranks, one = pattern(call), self.run.ranks, np.dtype(call.dtype).type
        total: AnyArray
        if call.collective == "allgather":
            return np.concatenate([plain + one(3 * rank) for rank in range(ranks)])
        if call.collective == "broadcast":
            total = plain + one(3 * call.root)
            return total
        if call.collective == "reduce" and self.rank != ranks - 1:
            return None
        if call.op == "max":
            total = plain + one(3 * (ranks - 1))
        else:
            total = plain * one(ranks) + one(3 * ranks * (ranks - 1) // 2)
        return total


def pattern(call: Call) -> AnyArray:
    """Return small values, so that their sums are exact in every type."""
    return ((np.arange(call.count) + call.index) % 97).astype(call.dtype)


def counts() -> tuple[int, int]:
    """Return how many threads and descriptors this process has."""
    return len(list(Path("/proc/self/task").iterdir())), len(list(Path("/proc/self/fd").iterdir()))


def _signal_later(number: signal.Signals) -> Callable[[Player, Communicator], None]:
    def act(player: Player, _: Communicator) -> None:
        def later() -> None:
            time.sleep(player.run.delay)
            (player.folder / "fault-time").write_text(repr(time.time()))
            os.kill(os.getpid(), number)

        threading.Thread(target=later, daemon=True).start()

    return act


def _close(player: Player, group: Communicator) -> None:
    group.close(player.run.delay)
    raise CommunicationError(f"rank {player.rank} closed the group")


def _break(player: Player, _: Communicator) -> None:
    drawing(player.run.seed).choice(player.sockets).shutdown(socket.SHUT_RDWR)


def _write_noise(player: Player, _: Communicator) -> None:
    draw = drawing(player.run.seed)
    chosen = draw.choice(player.sockets)
    chosen.send(draw.randbytes(draw.choice([32, 100, 5000])), socket.MSG_DONTWAIT)


def _sleep(player: Player, _: Communicator) -> None:
    time.sleep(player.run.timeout + 1.5)


ACTS: dict[str, Callable[[Player, Communicator], None]] = {
    "kill": _signal_later(signal.SIGKILL),
    "kill-reading": _signal_later(signal.SIGKILL),
    "stop": _signal_later(signal.SIGSTOP),
    "exit": lambda *_: os._exit(3),
    "late": _sleep,
    "close": _close,
    "link": _break,
    "noise": _write_noise,
}
"""What the rank at fault does instead of, or before, its operation."""

CHANGES: dict[str, Callable[[Call, Run], Call]] = {
    "size": lambda call, _: replace(call, count=call.count + 1),
    "dtype": lambda call, _: replace(call, dtype="int32" if call.dtype == "float32" else "float32"),
    "op": lambda call, _: replace(call, op="max" if call.op == "sum" else "sum"),
    "collective": lambda call, _: replace(call, collective="allgather"),
    "root": lambda call, run: replace(call, root=run.ranks - 1),
}
"""What the rank at fault calls instead of its operation."""


def disturb(run: Run, folder: Path) -> None:
    """Send noise to the listening ports of all ranks while they connect."""
    draw, end = drawing(run.seed), time.monotonic() + 0.3
    kept: list[socket.socket] = []
    while time.monotonic() < end:
        for card in folder.glob("forestcoll+default+card+*"):
            port = json.loads(card.read_bytes())["default"][1]
            stranger = socket.socket()
            stranger.settimeout(0.1)
            kept.append(stranger)
            try:
                stranger.connect(("127.0.0.1", port))
                stranger.sendall(draw.randbytes(draw.choice([0, 10, 130, 5000])))
            except OSError:
                continue
        time.sleep(0.002)


def described(run: Run) -> str:
    """Return the run in one line."""
    return " ".join(f"{key}={value}" for key, value in asdict(run).items())
