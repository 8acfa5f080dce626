"""The same page on a terminal, with colours and wrapping, and in a pipe, as plain text."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from cli_run import command, environment, process

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(
    *arguments: object, columns: int = 200, interrupt_at: bytes = b"", more: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a command whose three streams are one terminal. Return its exit status and its output.

    The command is interrupted as soon as it has written `interrupt_at`.
    """
    terminal, its_end = pty.openpty()
    size = {"COLUMNS": str(columns), "TERM": "xterm-256color", "NO_COLOR": ""}
    variables = environment(**size | (more or {}))
    with subprocess.Popen(command(*arguments), stdin=its_end, stdout=its_end, stderr=its_end, env=variables) as run:  # noqa: S603
        os.close(its_end)
        written = _until(terminal, interrupt_at) if interrupt_at else b""
        if interrupt_at:
            run.send_signal(signal.SIGINT)
        written += _until(terminal)
    os.close(terminal)
    return run.returncode, written.decode().replace("\r\n", "\n")


def _until(terminal: int, text: bytes | None = None) -> bytes:
    """Read the output on a terminal until `text` appears, or until all programs have closed it."""
    written = b""
    while text is None or text not in written:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux raises this when the other end is closed
            return written
        if not part:
            return written
        written += part
    return written


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedule") / "schedule.json"
    assert process("generate", "ring:nodes=4", "--collective", "allreduce", "-o", path).status == 0
    return path


def test_a_terminal_shows_a_bold_title_and_the_same_cells(schedule: Path) -> None:
    status, written = on_terminal("simulate", schedule, "--sizes", "1KiB..4KiB")
    plain = process("simulate", schedule, "--sizes", "1KiB..4KiB").out
    assert status == 0
    assert "\x1b[1mring:nodes=4: allreduce over 4 compute nodes\x1b[0m" in written
    shown = ESCAPE.sub("", written)
    assert [word for word in plain.split() if word not in shown.split()] == []


def test_a_pipe_receives_plain_text(schedule: Path) -> None:
    runs = {process("simulate", schedule, "--sizes", "1KiB..4KiB").out for _ in range(2)}
    assert len(runs) == 1
    assert "\x1b" not in runs.pop()


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colour_shows_the_same_text_as_a_pipe(schedule: Path, more: dict[str, str]) -> None:
    status, written = on_terminal("simulate", schedule, "--sizes", "1KiB..4KiB", more=more)
    assert status == 0
    expected = process("simulate", schedule, "--sizes", "1KiB..4KiB").out
    assert ESCAPE.sub("", written).endswith(expected)
    assert "\x1b[1m" not in written


def test_an_empty_no_color_variable_keeps_colours(schedule: Path) -> None:
    assert "\x1b[1m" in on_terminal("simulate", schedule, "--sizes", "1KiB", more={"NO_COLOR": ""})[1]


def test_json_is_never_coloured() -> None:
    status, written = on_terminal("topologies", "--json")
    assert status == 0
    assert json.loads(written)["topologies"]


def test_correct_results_are_green_and_errors_are_red(schedule: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.xml"
    assert process("export", schedule, "--to", "msccl-xml", "-o", program).status == 0
    assert f"\x1b[1;32m{program}: right" in on_terminal("check-program", program)[1]
    status, written = on_terminal("verify", tmp_path / "none.json")
    assert status == 1
    assert "\x1b[31mforestcoll:\x1b[0m " in written


def test_a_narrow_terminal_wraps_cells_within_their_column() -> None:
    status, written = on_terminal("topologies", columns=50)
    rows = [line for line in ESCAPE.sub("", written).splitlines() if line.startswith("  boxes=")]
    assert status == 0
    assert rows
    assert max(map(len, rows)) <= 50


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_bars_fit_one_line_of_any_terminal(columns: int) -> None:
    status, written = on_terminal("generate", "dgx-a100:boxes=32", "--json", columns=columns)
    assert status == 0
    frames = re.split(r"[\r\n]", written[: written.index("{")])
    assert max(len(ESCAPE.sub("", frame)) for frame in frames) <= columns
    assert "\x1b[1A\x1b[2K\x1b[1A" not in written  # no frame has two lines


def test_ctrl_c_removes_the_bar_and_shows_the_cursor() -> None:
    status, written = on_terminal("generate", "dgx-a100:boxes=512", "--json", interrupt_at=b"growing trees")
    assert status == 130
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
    assert ESCAPE.sub("", written).endswith("forestcoll: interrupted; nothing was written\n")
