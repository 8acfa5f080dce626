"""The examples in the docstrings of public functions and values run, and print the output shown."""

import doctest
import inspect
from importlib import import_module

import pytest

import forestcoll

MODULES = (
    "allreduce.linear_program",
    "bounds.all_to_all",
    "bounds.table",
    "bounds.values",
    "forest_optimum.broadcast",
    "forest_optimum.plan",
    "forest_optimum.value",
    "generation.forest",
    "generation.steps",
    "lowering.lowering",
    "method",
    "oneport.comparison",
    "oneport.pipelined",
    "progress",
    "proof.bound",
    "proof.cut",
    "proof.lengths",
    "proof.prices",
    "proof.proof",
    "proof.receipt",
    "proof.tree_dual",
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
    "simulation.simulate",
    "solver.generate",
    "solver.optimum",
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


WITHOUT_EXAMPLES = ("design", "errors", "lowering", "simulation", "targets", "topology", "version")
"""Modules and packages some of whose public names have no example yet."""


@pytest.mark.parametrize("name", forestcoll.__all__)
def test_a_public_name_has_an_example(name: str) -> None:
    value = getattr(forestcoll, name)
    if not inspect.isclass(value) and not inspect.isfunction(value):
        pytest.skip("not a class and not a function")
    room = value.__module__.split(".")[1]
    if room in WITHOUT_EXAMPLES:
        pytest.skip(f"not all public names of {room} have an example yet")
    assert ">>>" in (value.__doc__ or "")
