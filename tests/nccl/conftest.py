"""The released libraries of NCCL."""

from pathlib import Path

import pytest

import nccl_judge
from forestcoll.nccl.choice.stored import VERSIONS


@pytest.fixture(params=VERSIONS)
def real_nccl(request: pytest.FixtureRequest) -> Path:
    """The library of each version that `make nccl` downloads; the test is skipped without it."""
    found: Path = nccl_judge.CACHE / str(request.param) / nccl_judge.LIBRARY
    if not found.is_file():
        pytest.skip(f"{found} is missing; `make nccl` downloads it")
    return found
