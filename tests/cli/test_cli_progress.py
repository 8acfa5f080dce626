"""Progress on a terminal and elsewhere: stages, counts, remarks, and the time of each stage."""

import io
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from unittest import mock

import pytest

from forestcoll.cli.terminal_progress import TerminalProgress

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def on_terminal() -> Iterator[Terminal]:
    """Make standard error a terminal."""
    variables = {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": ""}
    with mock.patch.dict(os.environ, variables), redirect_stderr(Terminal()) as stream:
        yield stream


def shown(stream: io.StringIO) -> str:
    return ESCAPE.sub("", stream.getvalue())


def test_a_terminal_shows_the_stage_and_its_count() -> None:
    with on_terminal() as terminal, TerminalProgress() as progress:
        progress.advance(1, 2)  # before the first stage, there is no bar
        progress.begin("growing trees")
        progress.advance(1200, 5000)
        time.sleep(0.15)  # rich draws ten times per second
        progress.begin("verifying")
        progress.advance(3, 0)
        time.sleep(0.15)
    written = shown(terminal)
    assert "growing trees" in written
    assert "1,200 of 5,000" in written
    assert "verifying" in written
    assert "1 of 2" not in written
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")
    assert list(progress.seconds) == ["growing trees", "verifying"]


def test_a_remark_is_printed_once_above_the_bar() -> None:
    with on_terminal() as terminal, TerminalProgress() as progress:
        progress.begin("growing trees")
        for text in ("[red]slow[/red]", "[red]slow[/red]", "large"):
            progress.remark(text)
    assert shown(terminal).count("forestcoll: note: [red]slow[/red]\n") == 1
    assert shown(terminal).count("forestcoll: note: large\n") == 1


def test_without_a_terminal_only_remarks_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalProgress() as progress:
        progress.begin("growing trees")
        progress.advance(1, 2)
        progress.remark("slow")
        progress.remark("slow")
        progress.begin("verifying")
        progress.begin("growing trees")
        progress.note({"trees": 3})
        progress.note({"grown": 4})
    assert capsys.readouterr().err == "forestcoll: note: slow\n"
    assert list(progress.seconds) == ["growing trees", "verifying"]
    assert progress.counters == {"trees": 3, "grown": 4}
