"""The same page on a terminal, with colours and wrapping, and in a pipe, as plain text."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from cli_run import command, environment, run_command, written

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SIZES = ("--sizes", "1KiB..4KiB")


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let streams of this process that say they are terminals have colours and a width."""
    for name, value in {"COLUMNS": "200", "TERM": "xterm-256color", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedule") / "schedule.json"
    return written(path, "generate", "ring:nodes=4", "--collective", "allreduce")


def on_terminal(*arguments: object, interrupt_at: bytes = b"") -> tuple[int, str]:
    """Run a process whose three streams are one terminal. Return its exit status and its output.

    The command is interrupted as soon as it has written `interrupt_at`.
    """
    terminal, its_end = pty.openpty()
    words = command(*arguments)
    with subprocess.Popen(words, stdin=its_end, stdout=its_end, stderr=its_end, env=environment()) as run:  # noqa: S603
        os.close(its_end)
        shown = _until(terminal, interrupt_at) if interrupt_at else b""
        if interrupt_at:
            run.send_signal(signal.SIGINT)
        shown += _until(terminal)
    os.close(terminal)
    return run.returncode, shown.decode().replace("\r\n", "\n")


def _until(terminal: int, text: bytes | None = None) -> bytes:
    """Read the output on a terminal until `text` appears, or until all programs have closed it."""
    shown = b""
    while text is None or text not in shown:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux raises this when the other end is closed
            return shown
        if not part:
            return shown
        shown += part
    return shown


def test_a_terminal_shows_a_bold_title_and_the_same_cells(schedule: Path) -> None:
    status, shown = on_terminal("simulate", schedule, *SIZES)
    plain = run_command("simulate", schedule, *SIZES).out
    assert status == 0
    assert "\x1b[1mring:nodes=4: allreduce over 4 compute nodes\x1b[0m" in shown
    assert [word for word in plain.split() if word not in ESCAPE.sub("", shown).split()] == []


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_without_colour_shows_the_same_text_as_a_pipe(
    schedule: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    assert "\x1b[1m" in run_command("simulate", schedule, *SIZES, terminal=True).out  # an empty NO_COLOR keeps them
    plain = run_command("simulate", schedule, *SIZES).out
    monkeypatch.setenv(name, value)
    run = run_command("simulate", schedule, *SIZES, terminal=True)
    assert run.out == plain
    assert name == "NO_COLOR" or "\x1b" not in run.err


def test_json_is_never_coloured() -> None:
    run = run_command("topology", "--json", terminal=True)
    assert (run.status, run.err) == (0, "")
    assert json.loads(run.out)["topologies"]


def test_correct_results_are_green_and_errors_are_red(schedule: Path, tmp_path: Path) -> None:
    program = written(tmp_path / "program.xml", "export", schedule, "--to", "msccl-xml")
    assert f"\x1b[1;32m{program}: valid" in run_command("verify", program, terminal=True).out
    run = run_command("verify", tmp_path / "none.json", terminal=True)
    assert run.status == 1
    assert "\x1b[31mforestcoll:\x1b[0m " in run.err


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_bars_fit_one_line_of_any_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    run = run_command("generate", "dgx-a100:boxes=16", "--json", terminal=True)
    assert json.loads(run.out)["optimal"]
    frames = ESCAPE.sub("", run.err).replace("\r", "\n").splitlines()
    assert any(map(str.strip, frames))
    assert max(map(len, frames)) <= columns
    assert "\x1b[1A\x1b[2K\x1b[1A" not in run.err  # no frame has two lines


def test_progress_bars_do_not_change_standard_output() -> None:
    terminal, its_end = os.openpty()
    words = command("generate", "ring:nodes=3", "-o", "-")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=its_end, env=environment()) as run:  # noqa: S603
        os.close(its_end)
        _until(terminal)
        out, _ = run.communicate(timeout=60)
    os.close(terminal)
    assert json.loads(out)["format"] == "forestcoll.schedule/1"


def test_ctrl_c_removes_the_bar_and_shows_the_cursor() -> None:
    status, shown = on_terminal("generate", "dgx-a100:boxes=512", "--json", interrupt_at=b"growing trees")
    assert status == 130
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert ESCAPE.sub("", shown).endswith("forestcoll: interrupted; nothing was written\n")
