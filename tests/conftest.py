"""Fixtures for all tests. pytest puts this folder on the import path, so tests can import `networks` and `oracles`."""

import os
import signal
from pathlib import Path

import pytest

from forestcoll.kernels import Core, cores
from forestcoll.nccl.choice.stored import VERSIONS

# A shell that starts the tests in the background, or `nohup`, ignores Ctrl-C, and processes inherit this. Tests send
# themselves and their processes Ctrl-C, so it must have its usual effect.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The tables of NCCL are the stored ones, also where a library is installed.
os.environ["FORESTCOLL_NCCL"] = "2.32.3"


@pytest.fixture(autouse=True)
def no_notes_about_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on how long a command of this process takes."""
    monkeypatch.setattr("forestcoll.cli.terminal_progress.LONG_SECONDS", 1e9)


@pytest.fixture(params=list(cores()))
def core(request: pytest.FixtureRequest) -> Core:
    """Return each core in turn."""
    return cores()[request.param]


@pytest.fixture(params=VERSIONS)
def real_nccl(request: pytest.FixtureRequest) -> Path:
    """Return the library of each version of NCCL that `make nccl` downloads; skip the test without it."""
    import nccl_judge

    found: Path = nccl_judge.CACHE / str(request.param) / nccl_judge.LIBRARY
    if not found.is_file():
        pytest.skip(f"{found} is missing; `make nccl` downloads it")
    return found
