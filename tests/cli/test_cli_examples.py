"""The examples of every `--help` run, in order, in an empty folder."""

import shlex
from pathlib import Path

import pytest
from cli_run import run_command

from forestcoll.cli.examples import EXAMPLES
from forestcoll.cli.main import _COMMANDS


def test_every_command_has_two_or_three_examples() -> None:
    assert list(EXAMPLES) == sorted(_COMMANDS)
    assert {len(lines) for lines in EXAMPLES.values()} <= {2, 3}


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_ends_with_the_examples_unchanged(name: str) -> None:
    lines = "".join(f"  {line}\n" for line in EXAMPLES[name])
    help_text = run_command(name, "--help").out
    shown = "\n".join(line.removeprefix("  ") for line in help_text.splitlines()[-len(EXAMPLES[name]) - 1 :])
    assert f"{shown}\n" == f"Examples:\n{lines}"
    assert any(line.startswith(f"forestcoll {name} ") or line == f"forestcoll {name}" for line in EXAMPLES[name])


@pytest.mark.parametrize("name", _COMMANDS)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for line in EXAMPLES[name]:
        program, *words = shlex.split(line)
        assert program == "forestcoll"
        run = run_command(*words)
        assert run.status == 0, line
        assert all(each.startswith("forestcoll: note: ") for each in run.err.splitlines()), line
        assert run.out or "-o" in words, line
