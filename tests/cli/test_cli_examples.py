"""The examples of every `--help` run, in order, in a folder that contains only `nccl-tests.log`."""

import importlib.util
import shlex
import shutil
from pathlib import Path

import pytest
from cli_run import Run, command, process, run_command

from forestcoll.cli.examples import EXAMPLES
from forestcoll.cli.main import _COMMANDS
from forestcoll.runtime.emulation.requirements import missing

_STARTS_RANKS = {"bench", "emulate", "probe"}
"""Commands that start other processes, whose output only a process of its own can catch."""

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"


def test_every_command_has_two_or_three_examples() -> None:
    assert list(EXAMPLES) == sorted(_COMMANDS)
    assert {len(lines) for lines in EXAMPLES.values()} <= {2, 3}


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_ends_with_the_examples_unchanged(name: str) -> None:
    lines = "".join(f"  {line}\n" for line in EXAMPLES[name])
    help_text = run_command(name, "--help").out
    shown = "\n".join(line.removeprefix("  ") for line in help_text.splitlines()[-len(EXAMPLES[name]) - 1 :])
    assert f"{shown}\n" == f"Examples:\n{lines}"
    # emulate starts the ranks of bench and probe
    commands = [line.rpartition(" -- ")[2] if name in {"bench", "probe"} else line for line in EXAMPLES[name]]
    assert any(line.startswith(f"forestcoll {name} ") or line == f"forestcoll {name}" for line in commands)


def _process(words: list[str]) -> Run:
    """Run a command as a process; a `forestcoll` that it starts is the package under test, wherever it is."""
    place = words.index("--") + 1
    started = command() if words[place] == "forestcoll" else words[place : place + 1]
    return process(*words[:place], *started, *words[place + 1 :])


@pytest.mark.parametrize("name", _COMMANDS)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if name in _STARTS_RANKS and (problem := missing()) is not None:
        pytest.skip(f"no emulation here: {problem}")
    if name == "probe" and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    shutil.copy(LOG, tmp_path)
    for line in EXAMPLES[name]:
        program, *words = shlex.split(line)
        assert program == "forestcoll"
        run = _process(words) if "--" in words else run_command(*words)
        assert run.status == 0, line
        start = "forestcoll: " if name == "probe" else "forestcoll: note: "  # probe says what it measures
        assert all(each.startswith(start) for each in run.err.splitlines()), line
        assert run.out or "-o" in words, line
