"""The table of all commands, what each has, and what a command imports when it starts."""

import importlib
import os
import pkgutil
import sys

import pytest
from cli_run import completed, process, run_command

import forestcoll.cli
from forestcoll.cli.examples import EXAMPLES
from forestcoll.cli.main import _COMMANDS, module_of

SHARED = {
    "examples",
    "file_types",
    "main",
    "options",
    "outputs",
    "invocation",
    "numpy_start",
    "types",
    "terminal_progress",
}


def test_help_lists_every_command() -> None:
    run = run_command("--help")
    assert run.err == ""
    assert run.status == 0
    for name, summary in _COMMANDS.items():
        assert f"  {name} " in run.out
        assert summary in run.out
    assert process("--help") == run
    without = run_command()
    assert (without.status, without.out) == (2, "")
    assert "Networks:" in without.err


def test_every_file_of_the_folder_is_a_command_or_a_shared_module() -> None:
    files = {module.name for module in pkgutil.iter_modules(forestcoll.cli.__path__)}
    assert files == SHARED | set(map(module_of, _COMMANDS))


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_its_summary_its_help_its_examples(name: str) -> None:
    command = importlib.import_module(f"forestcoll.cli.{module_of(name)}").command
    assert command.name == name
    assert command.get_short_help_str(limit=200) == _COMMANDS[name]
    run = run_command(name, "-h")
    assert run.err == ""
    assert run.status == 0
    assert run.out.startswith(f"Usage: forestcoll {name} ")
    shown = [line.strip() for line in run.out.splitlines()[-len(EXAMPLES[name]) - 1 :]]
    assert shown == ["Examples:", *EXAMPLES[name]]


LOADED = """
import sys
from forestcoll.cli import main
for line in sys.argv[1:]:
    sys.argv = ["forestcoll", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
print("\\nmodules:", *sys.modules, file=sys.stderr)
"""


def loaded_by(*lines: str) -> set[str]:
    """Return the modules that a process has imported after some commands."""
    run = completed([sys.executable, "-c", LOADED, *lines])
    assert run.status == 0, run.err
    return set(run.err.partition("modules:")[2].split())


def test_help_and_listing_builders_import_no_heavy_modules() -> None:
    lines = ("--help", "--version", "generate --help", "verify --help", "topology ring:nodes=3")
    assert not {"numpy", "rich", "networkx", "forestcoll.kernels._native"} & loaded_by(*lines)


def test_a_run_without_a_terminal_imports_no_drawing_modules_and_no_solver_of_linear_programs() -> None:
    lines = ("optimum ring:nodes=3", "generate ring:nodes=3 --method bfb", "topology", "generate dgx-a100:boxes=2")
    assert not {"rich", "networkx", "highspy"} & loaded_by(*lines)


STARTED = """
import os
from forestcoll.cli.numpy_start import import_numpy
before = os.environ.get("OPENBLAS_NUM_THREADS")
import_numpy()
assert os.environ.get("OPENBLAS_NUM_THREADS") == before
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists threads in /proc")
@pytest.mark.parametrize("variables", [{}, {"OPENBLAS_NUM_THREADS": "1"}])
def test_numpy_starts_with_one_thread_and_the_environment_is_kept(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    run = completed([sys.executable, "-c", STARTED], **variables)
    assert (run.status, run.out) == (0, "1\n"), run.err
