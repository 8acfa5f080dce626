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


DOCUMENTED = (
    "allreduce",
    "bounds",
    "collective",
    "forest_optimum",
    "generation",
    "method",
    "oneport",
    "progress",
    "proof",
    "ranks",
    "request",
    "schedule",
    "solver",
    "verification",
)
"""The modules and packages all of whose public names have an example."""

VALUES = {name: getattr(forestcoll, name) for name in dir(forestcoll)}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, value in VALUES.items()
        if inspect.isclass(value) or inspect.isfunction(value)
        if value.__module__.removeprefix("forestcoll.").split(".")[0] in DOCUMENTED
    ],
)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (VALUES[name].__doc__ or "")
