"""The examples in the docstrings of public functions and values run, and print the output shown."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "allreduce.program",
    "bounds.all_to_all",
    "bounds.table",
    "design.finder",
    "design.realisation",
    "generation.forest",
    "lowering.lowering",
    "method",
    "optima.rooted",
    "optima.value",
    "progress",
    "proof.bound",
    "proof.cut",
    "proof.receipt",
    "request",
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
    "simulation.costs",
    "simulation.series.play",
    "simulation.simulate",
    "solver.generate",
    "solver.optimum",
    "targets.exporting",
    "targets.judging",
    "verification.judges",
    "verification.reading",
    "verification.report",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(import_module(f"forestcoll.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
