"""Shell completion as bash requests it, and the scripts that enable it."""

import os
import shlex
from unittest import mock

import pytest
from cli_run import command, completed, run_command

from forestcoll import builders
from forestcoll.algorithms.method import methods
from forestcoll.cli.main import _COMMANDS
from forestcoll.programs.targets.target import targets
from forestcoll.topology.importers.importer import importers


def completions(line: str) -> set[str]:
    """Return the completions of the last word of a line, with their kinds."""
    words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_FORESTCOLL_COMPLETE": "bash_complete"}
    with mock.patch.dict(os.environ, variables):
        run = run_command()
    assert (run.status, run.err) == (0, "")
    return set(run.out.splitlines())


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", list(_COMMANDS)),
        ("topolog", ["topology"]),
        ("topology ring --to astra", ["astra-sim-ns3", "astra-sim-analytical"]),
        ("generate --max", ["--max-peers", "--max-trees"]),
        ("--ver", ["--version"]),
        ("optimum ring --collective all", ["allgather", "allreduce", "all-to-all"]),
        ("generate ring --method ring", ["ring"]),
        ("import file --format nvidia", ["nvidia-smi-topo", "nvidia-smi-nvlink"]),
        ("export file --to nccl", ["nccl-graph"]),
        ("no-such-command --", ["--version", "--help"]),
    ],
)
def test_commands_options_and_choices_are_completed(line: str, names: list[str]) -> None:
    assert completions(f"forestcoll {line}") == {f"plain,{name}" for name in names}


def test_builders_and_files_are_completed() -> None:
    offered = completions("forestcoll optimum dgx")
    assert offered == {"file,dgx"} | {f"plain,{each.name}" for each in builders() if each.name.startswith("dgx")}
    assert completions("forestcoll verify sched") == {"file,sched"}
    assert completions("forestcoll topology ring -o net") == {"file,net"}
    assert completions("forestcoll generate ring -o sched") == {"file,sched", "plain,schedule="}


def test_every_name_of_a_method_or_a_format_has_a_summary() -> None:
    for registry in (methods, importers, targets):
        assert all(registry.completions().values())


def test_each_shell_has_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"COMP_WORDS": "forestcoll gen", "COMP_CWORD": "1", "_FORESTCOLL_COMPLETE": "bash_complete"}
    assert completed(command(), **variables).out.splitlines() == ["plain,generate"]
    for shell in ("bash", "zsh", "fish"):
        monkeypatch.setenv("_FORESTCOLL_COMPLETE", f"{shell}_source")
        run = run_command()
        assert run.status == 0
        assert "_FORESTCOLL_COMPLETE" in run.out
