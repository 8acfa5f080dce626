"""Shell completion as bash requests it, and the scripts that enable it."""

import os
import shlex
from unittest import mock

import pytest
from cli_run import command, completed, process, run_command

from forestcoll import builders
from forestcoll.cli.main import _COMMANDS


def completions(line: str) -> set[str]:
    """Return the completions of the last word of a line, with their kinds."""
    words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_FORESTCOLL_COMPLETE": "bash_complete"}
    with mock.patch.dict(os.environ, variables):
        run = run_command()
    assert (run.status, run.err) == (0, "")
    return set(run.out.splitlines())


def test_commands_are_completed_from_a_prefix() -> None:
    assert completions("forestcoll ") == {f"plain,{name}" for name in _COMMANDS}
    assert completions("forestcoll topolog") == {"plain,topologies", "plain,topology"}


def test_options_are_completed() -> None:
    assert completions("forestcoll generate --max") == {"plain,--max-memory", "plain,--max-peers", "plain,--max-trees"}
    assert completions("forestcoll --ver") == {"plain,--version"}


def test_collectives_and_choices_are_completed() -> None:
    names = {"plain,allgather", "plain,allreduce", "plain,all-to-all"}
    assert completions("forestcoll optimum ring --collective all") == names
    assert completions("forestcoll generate ring --method ring") == {"plain,ring"}


def test_a_process_completes_the_same_commands() -> None:
    variables = {"COMP_WORDS": "forestcoll gen", "COMP_CWORD": "1", "_FORESTCOLL_COMPLETE": "bash_complete"}
    assert completed(command(), **variables).out.splitlines() == ["plain,generate"]


def test_formats_of_imported_files_are_completed() -> None:
    assert completions("forestcoll import file --format nvidia") == {
        "plain,nvidia-smi-topo",
        "plain,nvidia-smi-nvlink",
    }


def test_after_an_unknown_command_only_the_common_options_are_completed() -> None:
    assert completions("forestcoll no-such-command --") == {"plain,--version", "plain,--help"}


def test_builders_and_files_are_completed() -> None:
    offered = completions("forestcoll optimum dgx")
    assert offered == {"file,dgx"} | {f"plain,{each.name}" for each in builders() if each.name.startswith("dgx")}
    assert completions("forestcoll verify sched") == {"file,sched"}
    assert completions("forestcoll generate ring -o sched") == {"file,sched"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    run = process(_FORESTCOLL_COMPLETE=f"{shell}_source")
    assert run.status == 0
    assert "_FORESTCOLL_COMPLETE" in run.out
