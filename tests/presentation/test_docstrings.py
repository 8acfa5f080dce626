"""The examples in docstrings of the presentation layer run."""

import doctest
import importlib
import pkgutil

import pytest

import forestcoll.design.workloads
import forestcoll.presentation

MODULES = [f"forestcoll.presentation.{each.name}" for each in pkgutil.iter_modules(forestcoll.presentation.__path__)]


TRAINING = [
    f"forestcoll.design.workloads.{each.name}" for each in pkgutil.iter_modules(forestcoll.design.workloads.__path__)
]


@pytest.mark.parametrize("name", [*MODULES, "forestcoll.cli.examples", *TRAINING])
def test_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
