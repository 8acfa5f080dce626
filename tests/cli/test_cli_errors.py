"""Each kind of error has an exit status and one line, and defects have a traceback if the user asks for it."""

import contextlib
import errno
import os
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import click
import pytest
from cli_run import Run, run_command

from forestcoll.base.errors import InputError, InternalError, NoSolutionError
from forestcoll.cli.main import _open_standard_error, forestcoll

DEFECT = "please report it with the input that led here (FORESTCOLL_TRACEBACK=1 shows the traceback)"


def run_that_raises(error: BaseException) -> Run:
    with mock.patch.object(forestcoll, "main", side_effect=error):
        return run_command("topologies")


def run_without_output(error: OSError) -> tuple[Run, list[int]]:
    """Return a run that cannot write, and the file descriptors that it replaces; none is really replaced."""
    replaced: list[int] = []
    with mock.patch.object(os, "dup2", lambda _, descriptor: replaced.append(descriptor)):
        return run_that_raises(error), replaced


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (InputError("x.json: wrong"), 1, "x.json: wrong"),
        (NoSolutionError("nothing\nreaches it"), 1, "nothing reaches it"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (click.Abort(), 130, "interrupted; nothing was written"),
        (MemoryError(), 1, "out of memory; use a smaller network, fewer trees or chunks, or smaller values of options"),
        (click.UsageError("give one file"), 2, "give one file (see forestcoll --help)"),
        (InternalError("x is 3"), 1, f"defect in forestcoll: x is 3; {DEFECT}"),
        (ValueError("x"), 1, f"defect in forestcoll: ValueError: x; {DEFECT}"),
    ],
)
def test_an_error_is_one_line(error: BaseException, status: int, message: str) -> None:
    assert run_that_raises(error).error_line(status) == message


@pytest.mark.parametrize("error", [InternalError("x is 3"), ZeroDivisionError("x")])
def test_a_defect_has_a_traceback_on_request(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_TRACEBACK", "1")
    with pytest.raises(type(error), match="x"):
        run_that_raises(error)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError(errno.ENOSPC, "No space left on device"), "No space left on device"), (OSError("odd"), "odd")],
)
def test_a_result_that_cannot_be_written_is_an_error(error: OSError, reason: str) -> None:
    run, replaced = run_without_output(error)
    assert run.error_line() == f"cannot write the result: {reason}"
    assert replaced == [1]


def test_a_reader_that_has_closed_the_pipe_gets_no_message() -> None:
    assert run_without_output(BrokenPipeError()) == (Run(1, "", ""), [1])


def test_ctrl_c_inside_a_command_is_an_interruption() -> None:
    with mock.patch("forestcoll.topology.registry.builders", side_effect=KeyboardInterrupt):
        assert run_command("topologies").error_line(130) == "interrupted; nothing was written"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["optimun"], "no such command 'optimun'; did you mean 'optimum'? (see forestcoll --help)"),
        (["xyzzy"], "no such command 'xyzzy' (see forestcoll --help)"),
        (["optimum", "ring", "--rot", "1"], "no such option '--rot'; did you mean '--root'? (see forestcoll optimum "),
        (["optimum", "ring", "--xyzzy"], "no such option '--xyzzy' (see forestcoll optimum --help)"),
    ],
)
def test_an_unknown_name_has_the_nearest_name(words: list[str], message: str) -> None:
    assert run_command(*words).error_line(2).startswith(message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["optimum", "ring:nodes=4", "--collective"], "'--collective' requires an argument. (see forestcoll optimum -"),
        (["optimum", "ring:nodes=4", "--without"], "'--without' requires an argument. (see forestcoll optimum --help)"),
        (["simulate", "s.json", "--overhead-us", "abc"], "'abc'; expected a number from 0 to 1000000000 (see "),
        (["simulate", "s.json", "--overhead-us", "-1"], "'-1'; expected a number from 0 to 1000000000 (see "),
        (["what-if", "ring:nodes=4", "--jobs", "abc"], "'abc'; expected an integer from 1 to 1024 (see "),
        (["what-if", "ring:nodes=4", "--jobs", "0"], "'0'; expected an integer from 1 to 1024 (see "),
        (["export", "s.json", "--to", "goal", "--chunks", "abc"], "'abc'; expected 'exact' or an integer of 1 or more"),
        (["export", "s.json", "--to", "goal", "--blocks", "abc"], "'abc'; expected an integer of 1 or more (see "),
        (["find-topology", "--degree", "4", "--nodes", "9" * 19], "expected a number such as 64, or 32..64 (see "),
    ],
)
def test_a_wrong_value_says_what_is_valid(words: list[str], message: str) -> None:
    assert message in run_command(*words).error_line(2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["find-topology", "--degree", "4", "--nodes", "1000000000"],
            "nodes is 1000000000; expected an integer from 2 to 16384",
        ),
        (
            ["optimum", "ring:nodes=4", "--without", "0--9"],
            "ring:nodes=4: '0--9' names no link: there is no node '9'; name the ends of a link, such as '0--1'",
        ),
        (
            ["train-time", "gpt2-smal", "ring:nodes=4"],
            (
                "'gpt2-smal': no such sample or file; did you mean 'gpt2-small'? the samples are switch-base-256, "
                "switch-large-128, switch-c-2048, gpt2-small, gpt2-medium, gpt2-large, vgg-16, resnet-50"
            ),
        ),
        (
            ["train-time", "gpt2-small", "dgx-a100:boxes=2"],
            (
                "dgx-a100:boxes=2: has switches, and a breadth-first allreduce needs a network without; give the file "
                "of an allreduce: 'forestcoll generate dgx-a100:boxes=2 --collective allreduce -o FILE'"
            ),
        ),
        (
            ["expand", "ring:nodes=4", "--by", "power:1000000"],
            (
                "expansion 'power:1000000' is unknown; expected line-graph=N, degree=N, power=N, product=BASE, "
                "parallel=N, bidirectional, breadth-first"
            ),
        ),
    ],
)
def test_a_value_that_does_not_fit_is_one_line(words: list[str], message: str) -> None:
    assert run_command(*words).error_line() == message


def test_a_folder_is_no_box(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    with contextlib.chdir(tmp_path):
        message = run_command("optimum", "cluster:box=dir,boxes=2,nics=2,nic_bandwidth=25").error_line()
    assert "box is 'dir', which is a directory; name a machine (" in message


def test_the_memory_limit_is_more_than_that_of_the_process(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("{}")
    words = "the memory limit 1 MB is less than what the process needs without a file; set --max-memory or "
    assert run_command("verify", path, "--max-memory", "10").error_line().startswith(words)


def test_a_text_without_its_end_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"format": "x')
    assert (
        "not valid JSON: Unterminated string starting at line 1, column 12" in run_command("verify", path).error_line()
    )


def test_the_version_says_that_the_package_is_not_installed() -> None:
    with mock.patch.object(metadata, "version", side_effect=metadata.PackageNotFoundError):
        assert run_command("--version").out.startswith("forestcoll (not installed: run from its source)\n")


def test_messages_are_discarded_if_standard_error_is_closed() -> None:
    with mock.patch.object(sys, "stderr", None):
        _open_standard_error()
        assert sys.stderr.name == os.devnull
        sys.stderr.close()


def test_the_version_says_how_the_native_core_was_built(tmp_path: Path) -> None:
    core = SimpleNamespace(origin=str(tmp_path / "_native.abi3.so"))
    (tmp_path / "_native_build.txt").write_text("Clang 17.0.1, Darwin arm64, Release\n")
    with mock.patch("forestcoll.base.version.find_core", return_value=core):
        assert run_command("--version").out.endswith("\nnative core: Clang 17.0.1, Darwin arm64, Release, stable ABI\n")
    with mock.patch("forestcoll.base.version.find_core", return_value=None):
        assert run_command("--version").out.endswith("\nnative core: not installed\n")
