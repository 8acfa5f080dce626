"""Progress on a terminal, and the time of each stage."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from forestcoll.base.display import printable
from forestcoll.base.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class TerminalProgress(Progress):
    """Measures the time of each stage and, if standard error is a terminal, shows a progress bar."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counters: dict[str, int] = {}
        self._remarks: set[str] = set()
        self._stage: str | None = None
        self._started = 0.0
        self._bars: Bars | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
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
        self._end_stage()
        if self._bars is not None:
            self._bars.stop()

    def begin(self, stage: str) -> None:
        """See `Progress.begin`."""
        self._end_stage()
        self._stage, self._started = stage, time.perf_counter()
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(printable(stage), total=None, count="")

    def advance(self, done: int, total: int) -> None:
        """See `Progress.advance`."""
        if self._bars is not None and self._task is not None:
            count = f"{done:,} of {total:,}" if total else ""
            self._bars.update(self._task, completed=done, total=total or None, count=count)

    def remark(self, text: str) -> None:
        """See `Progress.remark`. Each text is printed only once."""
        if text in self._remarks:
            return
        self._remarks.add(text)
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
