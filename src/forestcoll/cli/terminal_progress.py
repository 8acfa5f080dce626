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
from dataclasses import dataclass
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


@dataclass(slots=True)
class _Stage:
    """The present stage: its name, when it began, and how much of it is done, of a total of 0 if that is not known."""

    name: str
    began: float
    done: int = 0
    total: int = 0


class TerminalProgress(Progress):
    """Measures the time of each stage, shows a progress bar on a terminal, and prints lines on a pipe.

    Work that takes more memory than the limit is stopped as by Ctrl-C; leaving the block raises an `InputError` then.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counters: dict[str, int] = {}
        self.stage: _Stage | None = None
        self._remarks: set[str] = set()
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._watch: _Watch | None = None

    def __enter__(self) -> Self:
        is_terminal = sys.stderr.isatty()
        self._watch = _Watch(self, says_time=not is_terminal)
        if is_terminal:
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
        excess = None if self._watch is None else self._watch.end()
        self._end_stage()
        if self._bars is not None:
            self._bars.stop()
        if excess is not None and isinstance(error, KeyboardInterrupt):
            raise InputError(excess) from None

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        self._end_stage()
        self.stage = _Stage(stage, time.perf_counter())
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(printable(stage), total=None, count="")

    def advance(self, done: int, total: int) -> None:
        """See `Progress.advance`."""
        if self.stage is not None:
            self.stage.done, self.stage.total = done, total
        if self._bars is not None and self._task is not None:
            count = f"{done:,} of {total:,}" if total else ""
            self._bars.update(self._task, completed=done, total=total or None, count=count)

    def remark(self, text: str) -> None:
        """See `Progress.remark`. Each text is printed only once."""
        if text not in self._remarks:
            self._remarks.add(text)
            self.say(text)

    def say(self, text: str) -> None:
        """Print a note."""
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
        if self.stage is not None:
            passed = time.perf_counter() - self.stage.began
            self.seconds[self.stage.name] = self.seconds.get(self.stage.name, 0.0) + passed
            self.stage = None


class _Watch:
    """Looks at the time and the memory of the work from a thread, says what is much, and stops what is too much.

    Args:
        progress: what the work reports to.
        says_time: whether the time is said.
    """

    def __init__(self, progress: TerminalProgress, *, says_time: bool) -> None:
        self._progress, self._says_time = progress, says_time
        self._limit, self._next_line = memory_limit(), time.perf_counter() + LONG_SECONDS
        self._said: set[str] = set()  # stages that had a line
        self._says_memory = True
        self._excess: str | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        with suppress(RuntimeError):  # the system allows no more threads
            self._thread.start()

    def end(self) -> str | None:
        """End the thread, and return why the work was stopped; None if it was not."""
        self._ended.set()
        try:
            if self._thread.ident is not None:
                self._thread.join()
        except KeyboardInterrupt:
            if self._excess is None:
                raise
            # The thread sent it at the moment when the work ended by itself.
        return self._excess

    def _run(self) -> None:
        while not self._ended.wait(_LOOKS):
            with suppress(OSError, ValueError):  # standard error is closed
                self._look_at_memory(_present_memory())
                if self._says_time and self._progress.stage is not None:
                    self._look_at_time(self._progress.stage, time.perf_counter())

    def _look_at_memory(self, memory: int) -> None:
        name = "this command" if self._progress.stage is None else self._progress.stage.name
        if memory > self._limit and self._excess is None:
            self._excess = f"{name}: stopped, because it takes more than {size_text(self._limit)} of memory; {advice()}"
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        elif memory > LONG_MEMORY and self._says_memory:
            self._says_memory = False
            self._progress.say(f"{name}: takes more than {size_text(LONG_MEMORY)} of memory")

    def _look_at_time(self, stage: _Stage, now: float) -> None:
        passed = now - stage.began
        expected = passed * stage.total / stage.done if stage.done and stage.total else 0.0
        shows_early = passed >= _EARLY and stage.done >= _EARLY_PARTS and expected >= LONG_SECONDS
        if now < self._next_line and (stage.name in self._said or not shows_early):
            return
        self._said.add(stage.name)
        self._next_line = now + _PERIOD
        of_total = f"{stage.done:,} of {stage.total:,} after " if stage.total else ""
        rest = f", about {max(1, round(expected - passed)):,} s more at this rate" if expected > passed else ""
        self._progress.say(f"{stage.name}: {of_total}{passed:.0f} s{rest}")


def _present_memory() -> int:
    """Return the bytes of memory that this process takes at present; 0 if the system does not say it."""
    pages = (system_text("/proc/self/statm") or "").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > 1 else 0
