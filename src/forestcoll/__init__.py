"""forestcoll: how fast can this network possibly run a collective, and what schedule gets there?

The pipeline, each step a function on frozen values:

    from pathlib import Path
    from forestcoll import generate, load_topology, optimum, verify, write_schedule

    topology = load_topology("dgx-a100:boxes=2")   # a builder, a file, or Topology.from_networkx(graph)
    best = optimum(topology)                       # the exact bound, and the cut that proves it
    schedule = generate(topology)                  # a forest of spanning trees that reaches it
    assert verify(schedule).ok                     # judged by code that shares nothing with the generator
    write_schedule(schedule, Path("schedule.json"))
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forestcoll.bounds import Optimum, optima_by_trees, optimum
    from forestcoll.collective import Collective
    from forestcoll.errors import ForestcollError, InputError, InternalError, NoSolutionError
    from forestcoll.generation import generate, schedule_for
    from forestcoll.method import Method
    from forestcoll.progress import Progress
    from forestcoll.schedule import Phase, PhaseOp, Rows, Schedule, Shape, Tree, read_schedule, shape_of, write_schedule
    from forestcoll.topology import Link, Node, NodeKind, Topology, TopologyBuilder, read_topology, write_topology
    from forestcoll.topology.registry import build_topology, builders, load_topology
    from forestcoll.verification import Fault, Report, verify

# Imported on first use: the command line must start before NumPy has loaded.
_HOMES = {
    "forestcoll.bounds": "Optimum optima_by_trees optimum",
    "forestcoll.collective": "Collective",
    "forestcoll.errors": "ForestcollError InputError InternalError NoSolutionError",
    "forestcoll.generation": "generate schedule_for",
    "forestcoll.method": "Method",
    "forestcoll.progress": "Progress",
    "forestcoll.schedule": "Phase PhaseOp Rows Schedule Shape Tree read_schedule shape_of write_schedule",
    "forestcoll.topology": "Link Node NodeKind Topology TopologyBuilder read_topology write_topology",
    "forestcoll.topology.registry": "build_topology builders load_topology",
    "forestcoll.verification": "Fault Report verify",
}

__all__ = [
    "Collective",
    "Fault",
    "ForestcollError",
    "InputError",
    "InternalError",
    "Link",
    "Method",
    "NoSolutionError",
    "Node",
    "NodeKind",
    "Optimum",
    "Phase",
    "PhaseOp",
    "Progress",
    "Report",
    "Rows",
    "Schedule",
    "Shape",
    "Topology",
    "TopologyBuilder",
    "Tree",
    "build_topology",
    "builders",
    "generate",
    "load_topology",
    "optima_by_trees",
    "optimum",
    "read_schedule",
    "read_topology",
    "schedule_for",
    "shape_of",
    "verify",
    "write_schedule",
    "write_topology",
]


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'forestcoll' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
