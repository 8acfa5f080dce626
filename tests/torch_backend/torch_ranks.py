"""Runs a function on real ranks of torch, forked from a server process that has imported torch once."""

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")


class RankError(AssertionError):
    """A rank did not return."""


@cache
def _server() -> "subprocess.Popen[str]":
    process = subprocess.Popen(  # noqa: S603 (a file of the tests)
        [sys.executable, str(HERE / "rank_server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.kill)
    return process


@cache
def _cache_folder() -> str:
    folder = tempfile.mkdtemp(prefix="forestcoll-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def outcomes(
    case: str, ranks: int = 4, *, environment: dict[str, str] | None = None, limit: float = 60, **arguments: Any
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return of each rank the value or the error of `case`, and what it printed."""
    request = {
        "case": case,
        "ranks": ranks,
        "environment": {"FORESTCOLL_CACHE": _cache_folder()} | (environment or {}),
        "limit": limit,
        "arguments": arguments,
    }
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    return answer["outcomes"], answer["logs"]


def values(case: str, ranks: int = 4, **options: Any) -> list[Any]:
    """Return what `case` returns on each rank; all must return."""
    found, logs = outcomes(case, ranks, **options)
    for rank, outcome in enumerate(found):
        if "error" in outcome:
            raise RankError(f"rank {rank}: {outcome['error']}\n{logs[rank]}")
    return [outcome["value"] for outcome in found]
