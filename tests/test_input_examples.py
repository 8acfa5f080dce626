"""The examples in the docstrings of the modules that read user input run."""

import doctest
import importlib

import pytest

MODULES = [
    "collective",
    "errors",
    "ranks",
    "simulation.sizes",
    "topology.builder",
    "topology.key_names",
    "topology.model",
    "topology.networkx_graph",
    "topology.node_link",
    "topology.registry",
    "units",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    done = doctest.testmod(importlib.import_module(f"forestcoll.{name}"), report=True)
    assert done.attempted > 0
    assert done.failed == 0
