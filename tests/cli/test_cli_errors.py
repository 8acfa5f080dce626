"""Each kind of error has an exit status and one line, and defects have a traceback if the user asks for it."""

import errno
import os
import re
import sys
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
        return run_command("topology")


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


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError(errno.ENOSPC, "No space left on device"), "No space left on device"), (OSError("odd"), "odd")],
)
def test_a_result_that_cannot_be_written_is_an_error(error: OSError, reason: str) -> None:
    run, replaced = run_without_output(error)
    assert run.error_line() == f"cannot write the result: {reason}"
    assert replaced == [1]


def test_messages_are_discarded_if_standard_error_is_closed() -> None:
    with mock.patch.object(sys, "stderr", None):
        _open_standard_error()
        assert sys.stderr.name == os.devnull
        sys.stderr.close()


def test_the_version_says_how_the_native_core_was_built(tmp_path: Path) -> None:
    run = run_command("--version")
    assert (run.status, run.err) == (0, "")
    known = r"\w+ [0-9.]+, \w+ \w+, \w+"
    assert re.fullmatch(rf"forestcoll \S+\nnative core: ({known}|of an unknown build)(, stable ABI)?\n", run.out)
    core = SimpleNamespace(origin=str(tmp_path / "_native.abi3.so"))
    (tmp_path / "_native_build.txt").write_text("Clang 17.0.1, Darwin arm64, Release\n")
    with mock.patch("forestcoll.base.version.find_core", return_value=core):
        assert run_command("--version").out.endswith("\nnative core: Clang 17.0.1, Darwin arm64, Release, stable ABI\n")
    with mock.patch("forestcoll.base.version.find_core", return_value=None):
        assert run_command("--version").out.endswith("\nnative core: not installed\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("simulate ring --model tres", "'tres' is not one of 'trees', 'program', 'slots'; did you mean 'trees'?"),
        ("export ring --to msccl-xml --dialect azur", "; did you mean 'azure'?"),
        ("one-port ring --source 0 --ports ones", "; did you mean 'one'?"),
        ("one-port ring --source 0 --ports qqq", "'bounded', 'all'"),
        ("simulate ring --sizes 1MiB-1GiB", "'1MiB-1GiB'; write a range of sizes as '1MiB..1GiB'"),
        ("simulate ring --sizes 1K,4K:8K", "'4K:8K'; write a range of sizes as '4K..8K'"),
        ("generate dgx-a100:boxes=2 --layout tp8,dp2", "layout: 'tp8' is not a dimension; write it as in tp=8"),
        ("generate dgx-a100:boxes=2 --layout 8,2", "layout: '8' is not a dimension; write it as in tp=8"),
        (
            "optimum dgx-h100 boxes=4",
            "unexpected extra argument (boxes=4); parameters of TOPOLOGY follow a colon, NAME:bo",
        ),
    ],
)
def test_wrong_usage_says_what_was_probably_meant(words: str, said: str) -> None:
    assert said in run_command(*words.split()).error_line(2)


@pytest.mark.parametrize("spec", ["dgx-h100,boxes=4", "dgx-h100 boxes=4", "dgx-h100, boxes=4"])
def test_parameters_after_another_sign_than_a_colon_are_named(spec: str) -> None:
    line = f"{spec!r}: no such builder or file; write parameters as dgx-h100:boxes=4"
    assert run_command("optimum", spec).error_line() == line


def test_an_unknown_name_with_parameters_is_not_corrected() -> None:
    assert "write parameters" not in run_command("optimum", "foo,bar=3").error_line()
