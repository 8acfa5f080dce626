"""The examples in the docstrings of the modules that read what users give."""

import doctest
import importlib

import pytest

MODULES = [
    "collective",
    "errors",
    "ranks",
    "simulation.sizes",
    "topology.builder",
    "topology.importers.fabrics.hostlist",
    "topology.importers.formats",
    "topology.importers.hosts.host",
    "topology.importers.hosts.link_speeds",
    "topology.importers.imported",
    "topology.importers.notes",
    "topology.importers.options",
    "topology.key_names",
    "topology.model",
    "topology.node_link",
    "topology.registry",
    "topology.writers.analytical_yaml",
    "topology.writers.decimals",
    "topology.writers.formats",
    "topology.writers.graphml",
    "topology.writers.ns3_text",
    "units",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    done = doctest.testmod(importlib.import_module(f"forestcoll.{name}"), report=True)
    assert done.attempted > 0
    assert done.failed == 0
