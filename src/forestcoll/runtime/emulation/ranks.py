"""Starts the ranks of an emulation and waits for them; changes links meanwhile."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from forestcoll.runtime.emulation.sandbox import STOPS

_TERMINATION_SECONDS = 3.0
"""How long ranks have to end after SIGTERM, before they are killed."""


@dataclass(frozen=True, slots=True)
class Start:
    """A process to start.

    Attributes:
        name: what messages call it, such as `rank 3`.
        words: its command line.
        environment: its environment variables, all of them.
    """

    name: str
    words: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to do while the ranks run.

    Attributes:
        after: seconds from their start.
        action: what to do.
    """

    after: float
    action: Callable[[], None]


@dataclass
class RankProcesses:
    """Processes that run, as their parent sees them. Signals of `STOPS` and SIGCHLD must be blocked.

    Attributes:
        starts: what to start.
        timers: what to do meanwhile.
        grace: how many seconds the others may go on after a process has failed.
    """

    starts: Sequence[Start]
    timers: Sequence[Timer]
    grace: float
    _running: dict[int, Start] = field(init=False, default_factory=dict)
    _failed: int = field(init=False, default=0)
    _deadline: float | None = field(init=False, default=None)
    _is_stopping: bool = field(init=False, default=False)

    def run(self) -> int:
        """Start all processes, wait until the last one has ended, and return the exit status.

        Returns:
            0 if all processes returned 0, else the status of the first that failed; 128 + N for signal N.
        """
        begin = time.monotonic()
        waiting = sorted(self.timers, key=lambda timer: timer.after)
        for start in self.starts:
            self._running[_forked(start)] = start
        while self._running:
            while waiting and time.monotonic() - begin >= waiting[0].after:
                waiting.pop(0).action()
            due = [begin + timer.after for timer in waiting[:1]] + ([self._deadline] if self._deadline else [])
            self._wait(min(due, default=time.monotonic() + 3600))
        return self._failed

    def _wait(self, until: float) -> None:
        got = signal.sigtimedwait([*STOPS, signal.SIGCHLD], max(0.0, until - time.monotonic()))
        if got is not None and got.si_signo in STOPS:
            self._stop()
        self._reap()
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._stop()

    def _reap(self) -> None:
        """Collect the processes that have ended; processes of processes may be among them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            start = self._running.pop(pid, None)
            if start is not None:
                self._end(start, os.waitstatus_to_exitcode(status))

    def _end(self, start: Start, code: int) -> None:
        if code == 0 or self._is_stopping:
            return
        how = f"exit status {code}" if code > 0 else f"signal {-code} ({signal.Signals(-code).name})"
        _say(f"{start.name} ended with {how}")
        if not self._failed:
            self._failed = code if code > 0 else 128 - code
            self._deadline = time.monotonic() + self.grace

    def _stop(self) -> None:
        """Terminate the processes, or kill them if they were terminated before."""
        number = signal.SIGKILL if self._is_stopping else signal.SIGTERM
        if not self._is_stopping and self._failed and self._running:
            names = ", ".join(start.name for start in self._running.values())
            _say(f"terminating {names}: still running {self.grace:g} s after the first failure")
        for pid in self._running:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        self._failed = self._failed or 128 + signal.SIGTERM
        self._is_stopping, self._deadline = True, time.monotonic() + _TERMINATION_SECONDS


def _forked(start: Start) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in STOPS:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvpe(start.words[0], list(start.words), start.environment)  # noqa: S606 (the command that the user gave)
    except OSError as error:
        _say(f"{start.name}: cannot start {Path(start.words[0]).name}: {error.strerror}")
    finally:
        os._exit(127)


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"forestcoll: {text}\n".encode())
