"""Progress as a bar on a terminal or as lines on a pipe, the time of each stage, and the limit of memory.

On a pipe, a line says what is done after ten seconds, and then each minute. A stage that says how much of it is done
has a line as soon as this shows that it will take long. So nothing takes over ten seconds, or 2 GB, in silence.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from forestcoll.base.display import printable
from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import LONG_MEMORY, LONG_SECONDS, advice, memory_limit, size_text, system_text

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


_LOOKS = 0.5
"""Seconds between two looks at the time and the memory."""

_EARLY, _EARLY_PARTS = 1.0, 3
"""Seconds of a stage, and how much of it must be done, before its progress shows how long it will take."""

_PERIOD = 60.0
"""Seconds between two lines."""


class TerminalProgress(Progress):
    """Measures the time of each stage, shows a progress bar on a terminal, and prints lines on a pipe.

    Work that takes more memory than the limit is stopped as by Ctrl-C; leaving the block raises an `InputError` then.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counters: dict[str, int] = {}
        self._remarks: set[str] = set()
        self._stage: str | None = None
        self._started = 0.0
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._done = (0, 0)
        self._announced: set[str] = set()  # stages that had a line
        self._next_line, self._limit, self._says_memory, self._took_too_much = 0.0, 0, True, False
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look_on, daemon=True)

    def __enter__(self) -> Self:
        self._next_line, self._limit = time.perf_counter() + LONG_SECONDS, memory_limit()
        with suppress(RuntimeError):  # the system allows no more threads
            self._watch.start()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bars

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[count]}"),
                TimeElapsedColumn(),
            )
            # A schedule may be written to standard output while bars are drawn; it must not go to their console.
            self._bars = Bars(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stage = self._stage
        self._ended.set()
        if self._watch.ident is not None:
            self._watch.join()
        self._end_stage()
        if self._bars is not None:
            self._bars.stop()
        if self._took_too_much and isinstance(error, KeyboardInterrupt):
            raise InputError(
                f"{stage}: stopped, because it takes more than {size_text(self._limit)} of memory; {advice()}"
            ) from None

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        self._end_stage()
        self._stage, self._started, self._done = stage, time.perf_counter(), (0, 0)
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(printable(stage), total=None, count="")

    def advance(self, done: int, total: int) -> None:
        """See `Progress.advance`."""
        self._done = done, total
        if self._bars is not None and self._task is not None:
            count = f"{done:,} of {total:,}" if total else ""
            self._bars.update(self._task, completed=done, total=total or None, count=count)

    def remark(self, text: str) -> None:
        """See `Progress.remark`. Each text is printed only once."""
        if text in self._remarks:
            return
        self._remarks.add(text)
        self._say(text)

    def _say(self, text: str) -> None:
        from forestcoll.presentation.printing import note_line

        line = note_line(text)
        if self._bars is None:
            click.echo(line, err=True)
        else:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def note(self, counters: Mapping[str, int]) -> None:
        """See `Progress.note`."""
        self.counters |= counters

    def _end_stage(self) -> None:
        if self._stage is not None:
            passed = time.perf_counter() - self._started
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + passed
            self._stage = None

    def _look_on(self) -> None:
        """Say how far the work is and what memory it takes, to the end of the block; runs in a thread of its own."""
        while not self._ended.wait(_LOOKS):
            memory = _present_memory()
            if memory > self._limit and not self._took_too_much:
                self._took_too_much = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            with suppress(OSError, ValueError):  # standard error is closed
                if memory > LONG_MEMORY and self._says_memory:
                    self._says_memory = False
                    self._say(f"{self._stage or 'this command'}: takes more than {size_text(LONG_MEMORY)} of memory")
                if self._bars is None:
                    self._look_at_time(time.perf_counter())

    def _look_at_time(self, now: float) -> None:
        stage, passed, (done, total) = self._stage, now - self._started, self._done
        if stage is None:
            return
        expected = passed * total / done if done and total else 0.0
        is_early = (
            passed >= _EARLY and done >= _EARLY_PARTS and expected >= LONG_SECONDS and stage not in self._announced
        )
        if not is_early and now < self._next_line:
            return
        self._announced.add(stage)
        self._next_line = now + _PERIOD
        of_total = f"{done:,} of {total:,} after " if total else ""
        rest = f", about {max(1, round(expected - passed)):,} s more at this rate" if expected > passed else ""
        self._say(f"{stage}: {of_total}{passed:.0f} s{rest}")


def _present_memory() -> int:
    """Return the bytes of memory that this process takes at present; 0 if the system does not say it."""
    pages = (system_text("/proc/self/statm") or "").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > 1 else 0
