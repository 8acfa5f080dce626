"""The examples in the docstrings of schedules, judges, simulation and export run and print what they show."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "lowering.lowering",
    "schedule.files",
    "schedule.rows",
    "schedule.schedule",
    "schedule.series.value",
    "schedule.shape",
    "schedule.shapes",
    "schedule.steps.shape",
    "schedule.steps.value",
    "schedule.trees.expansion",
    "schedule.trees.shape",
    "schedule.trees.traffic",
    "schedule.trees.value",
    "simulation.simulate",
    "targets.exporting",
    "verification.judges",
    "verification.reading",
    "verification.report",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(import_module(f"forestcoll.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
