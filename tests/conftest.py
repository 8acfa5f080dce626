"""Fixtures for all tests. pytest puts this folder on the import path, so tests can import `networks` and `oracles`."""

import pytest

from forestcoll.core import Core, cores


@pytest.fixture(params=list(cores()))
def core(request: pytest.FixtureRequest) -> Core:
    """Return each core in turn."""
    return cores()[request.param]
