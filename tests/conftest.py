"""Fixtures for all tests. Beside it stand `networks` and `oracles`: pytest puts this folder on the import path."""

import pytest

from forestcoll.core import Core, cores


@pytest.fixture(params=list(cores()))
def core(request: pytest.FixtureRequest) -> Core:
    """Each of the cores in turn."""
    return cores()[request.param]
