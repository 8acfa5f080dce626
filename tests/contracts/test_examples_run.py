"""The examples in the docstrings of functions that take any kind of schedule run, and print what they say."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "lowering.lowering",
    "schedule.files",
    "schedule.shapes",
    "simulation.simulate",
    "targets.exporting",
    "verification.judges",
    "verification.reading",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(import_module(f"forestcoll.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
