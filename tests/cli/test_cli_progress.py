"""Progress on a terminal and elsewhere: stages, counts, remarks, and the time of each stage."""

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from unittest import mock

import pytest
from cli_run import Output

from forestcoll.base.errors import InputError
from forestcoll.base.resources import set_memory_limit
from forestcoll.cli import terminal_progress
from forestcoll.cli.terminal_progress import TerminalProgress

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@contextmanager
def on_terminal() -> Iterator[Output]:
    """Make standard error a terminal."""
    variables = {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": ""}
    with mock.patch.dict(os.environ, variables), redirect_stderr(Output(terminal=True)) as stream:
        yield stream


def shown(stream: Output) -> str:
    return ESCAPE.sub("", stream.text())


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
    assert terminal.text().rindex("\x1b[?25h") > terminal.text().rindex("\x1b[?25l")
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


def test_on_a_pipe_long_stages_have_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seconds in (("_LOOKS", 0.01), ("_EARLY", 0.02), ("_PERIOD", 0.3), ("LONG_SECONDS", 0.2)):
        monkeypatch.setattr(terminal_progress, name, seconds)
    with TerminalProgress() as progress:
        progress.begin("growing trees")
        progress.advance(3, 1000)
        time.sleep(0.1)
        progress.begin("verifying")
        time.sleep(0.6)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        "forestcoll: note: growing trees: 3 of 1,000 after 0 s, about [0-9]+ s more at this rate", lines[0]
    )
    assert set(lines[1:]) <= {"forestcoll: note: verifying: 0 s", "forestcoll: note: verifying: 1 s"}
    assert 1 <= len(lines[1:]) <= 3


def _wait_in_a_stage() -> None:
    with TerminalProgress() as progress:
        progress.begin("growing trees")
        for _ in range(1000):
            time.sleep(0.01)


def _fail_in_a_stage() -> None:
    with TerminalProgress():
        time.sleep(0.1)
        raise InputError("the file is too large")


def test_work_above_the_limit_of_memory_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_progress, "_LOOKS", 0.01)
    monkeypatch.setattr(terminal_progress, "_present_memory", lambda: 3 * 10**9)
    set_memory_limit(2 * 10**9)
    message = "stopped, because it takes more than 2.0 GB of memory; the limit is 2.0 GB, and FORESTCOLL_MAX_MEMORY"
    try:
        with pytest.raises(InputError, match=message):
            _wait_in_a_stage()
    finally:
        set_memory_limit(None)


def test_work_that_ends_while_it_is_being_stopped_has_its_own_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command said that it was interrupted, in place of the work's own message."""
    ends, join = threading.Event(), threading.Thread.join

    def joined(thread: threading.Thread, timeout: float | None = None) -> None:
        ends.set()
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", joined)
    monkeypatch.setattr(terminal_progress, "_LOOKS", 0.01)
    monkeypatch.setattr(terminal_progress, "memory_limit", lambda: 10**9)
    monkeypatch.setattr(terminal_progress, "_present_memory", lambda: 2 * 10**9 * ends.wait(60))
    with pytest.raises(InputError, match="the file is too large"):
        _fail_in_a_stage()


def test_more_than_2_gb_of_memory_are_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(terminal_progress, "_LOOKS", 0.01)
    monkeypatch.setattr(terminal_progress, "memory_limit", lambda: 10**10)
    monkeypatch.setattr(terminal_progress, "_present_memory", lambda: 3 * 10**9)
    with TerminalProgress() as progress:
        progress.begin("verifying")
        time.sleep(0.1)
    assert capsys.readouterr().err == "forestcoll: note: verifying: takes more than 2.0 GB of memory\n"


def test_without_another_thread_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with TerminalProgress() as progress:
        progress.begin("verifying")
    assert list(progress.seconds) == ["verifying"]
