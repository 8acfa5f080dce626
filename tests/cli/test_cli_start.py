import importlib
import pkgutil
import re
import sys

import pytest
from cli_run import completed, process, run_command

import forestcoll.cli
from forestcoll.cli.main import _COMMANDS, module_of

SHARED = {
    "examples",
    "main",
    "options",
    "outputs",
    "flow_generation",
    "group_options",
    "invocation",
    "numpy_start",
    "step_generation",
    "types",
    "terminal_progress",
}


def test_help_lists_every_command() -> None:
    run = run_command("--help")
    assert (run.status, run.err) == (0, "")
    for name, summary in _COMMANDS.items():
        assert f"  {name} " in run.out
        assert summary in run.out


def test_every_file_of_the_folder_is_a_command_or_a_shared_module() -> None:
    files = {module.name for module in pkgutil.iter_modules(forestcoll.cli.__path__)}
    assert files == SHARED | set(map(module_of, _COMMANDS))


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_table_of_commands_has_the_summary_of_each_command(name: str) -> None:
    command = importlib.import_module(f"forestcoll.cli.{module_of(name)}").command
    assert command.name == name
    assert command.get_short_help_str(limit=200) == _COMMANDS[name]


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_has_help(name: str) -> None:
    run = run_command(name, "-h")
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"Usage: forestcoll {name} ")


def test_version() -> None:
    run = run_command("--version")
    assert (run.status, run.err) == (0, "")
    version, build = run.out.splitlines()
    assert version.startswith("forestcoll ")
    known = r"\w+ [0-9.]+, \w+ \w+, \w+"
    assert re.fullmatch(rf"native core: ({known}|of an unknown build)(, stable ABI)?", build)


def test_without_a_command_the_help_is_shown_as_wrong_usage() -> None:
    run = run_command()
    assert (run.status, run.out) == (2, "")
    assert "Commands:" in run.err


def test_python_m_forestcoll_runs_the_command() -> None:
    run = process("--help")
    assert run.status == 0
    assert run.out == run_command("--help").out


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    report = (
        "import sys\n"
        f"sys.argv = ['forestcoll', *{list(arguments)!r}]\n"
        "from forestcoll.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    print('\\nmodules:', *sys.modules, file=sys.stderr)\n"
        "    assert not end.code, end.code\n"
    )
    run = completed([sys.executable, "-c", report])
    assert run.status == 0, run.err
    return set(run.err.partition("modules:")[2].split())


HEAVY = {"numpy", "rich", "networkx", "forestcoll.kernels._native"}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("generate", "--help"), ("verify", "--help")])
def test_help_imports_no_heavy_modules(arguments: tuple[str, ...]) -> None:
    assert not HEAVY & loaded_by(*arguments)


def test_listing_builders_imports_no_solver() -> None:
    modules = loaded_by("topology", "ring:nodes=3")
    assert not HEAVY & modules


@pytest.mark.parametrize(
    "arguments", [("optimum", "ring:nodes=3"), ("generate", "ring:nodes=3", "--method", "bfb"), ("topologies",)]
)
def test_a_run_without_a_terminal_imports_no_drawing_modules(arguments: tuple[str, ...]) -> None:
    assert not {"rich", "networkx"} & loaded_by(*arguments)


def test_a_run_without_a_linear_program_imports_no_solver_for_it() -> None:
    assert "highspy" not in loaded_by("generate", "dgx-a100:boxes=2")
