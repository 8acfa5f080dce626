"""The examples of every `--help` run, in order, in a folder that contains only the two logs of `examples/`."""

import shlex
import shutil
from pathlib import Path

import click
import pytest
from cli_run import Run, command, process, run_command

from forestcoll.cli.examples import EXAMPLES
from forestcoll.cli.main import _COMMANDS, forestcoll
from forestcoll.runtime.emulation.requirements import missing

LOGS = sorted((Path(__file__).parents[2] / "examples").glob("*.log"))
COSTLY = {("bench", 1), ("tune", 0), ("probe", 0), ("probe", 1), ("probe", 2), ("tune", 1)}
"""Examples that take seconds, by command and place; the tests of their folders run their like."""


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_examples_that_click_accepts(name: str) -> None:
    assert 2 <= len(EXAMPLES[name]) <= 5
    accepted, parent = set(), click.Context(forestcoll, **forestcoll.context_settings)
    for line in EXAMPLES[name]:
        _, *words = shlex.split(line)
        while words[:1]:
            found = forestcoll.get_command(parent, words[0])
            assert found is not None, line
            place = words.index("--") if "--" in words else len(words)
            accepted.add(words[0])
            arguments = [*words[1:place], *(["--", "true"] if place < len(words) else [])]
            found.make_context(words[0], arguments, parent)
            words = words[place + 2 :] if words[place + 1 : place + 2] == ["forestcoll"] else []
    assert name in accepted


def _process(words: list[str]) -> Run:
    """Run a command as a process; a `forestcoll` that it starts is the package under test, wherever it is."""
    place = words.index("--") + 1
    started = command() if words[place] == "forestcoll" else words[place : place + 1]
    return process(*words[:place], *started, *words[place + 1 :])


def _run(lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for log in LOGS:
        shutil.copy(log, folder)
    for line in lines:
        program, *words = shlex.split(line)
        if "--" in words and (problem := missing()) is not None:
            pytest.skip(f"no emulation here: {problem}")
        if "probe" in words:
            pytest.importorskip("torch")
        assert program == "forestcoll"
        run = _process(words) if "--" in words else run_command(*words)
        assert run.status == 0, line
        start = "forestcoll: " if "probe" in words else "forestcoll: note: "  # probe says what it measures
        assert all(each.startswith(start) for each in run.err.splitlines()), line
        assert run.out or "-o" in words, line


@pytest.mark.parametrize("name", [name for name in _COMMANDS if (name, 0) not in COSTLY])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run([line for place, line in enumerate(EXAMPLES[name]) if (name, place) not in COSTLY], tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, _ in COSTLY}))
def test_costly_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run([line for place, line in enumerate(EXAMPLES[name]) if (name, place) in COSTLY], tmp_path, monkeypatch)
