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
    from forestcoll.bounds.all_to_all import AllToAllOptimum, all_to_all_optimum
    from forestcoll.bounds.allreduce import AllreduceOptimum, allreduce_optimum
    from forestcoll.bounds.limits import AllreduceRate, Bounds, CollectiveBound, Operation
    from forestcoll.bounds.rooted import RootedBound, broadcast_bound, reduce_bound
    from forestcoll.bounds.table import bounds_of
    from forestcoll.collective import Collective
    from forestcoll.errors import ForestcollError, InputError, InternalError, NoSolutionError
    from forestcoll.generation import generate, schedule_for
    from forestcoll.method import Method
    from forestcoll.progress import Progress
    from forestcoll.schedule import (
        Phase,
        PhaseOp,
        Rows,
        Schedule,
        Shape,
        Traffic,
        Tree,
        read_schedule,
        shape_of,
        traffic_of,
        write_schedule,
    )
    from forestcoll.targets.exporting import Export, Target, export
    from forestcoll.targets.judging import Judgement, judge_file
    from forestcoll.topology import Link, Node, NodeKind, Topology, TopologyBuilder, read_topology, write_topology
    from forestcoll.topology.registry import build_topology, builders, load_topology
    from forestcoll.verification import Fault, Report, verify

# Imported on first use: the command line must start before NumPy has loaded.
_HOMES = {
    "forestcoll.bounds": "Optimum optima_by_trees optimum",
    "forestcoll.bounds.all_to_all": "AllToAllOptimum all_to_all_optimum",
    "forestcoll.bounds.allreduce": "AllreduceOptimum allreduce_optimum",
    "forestcoll.bounds.limits": "AllreduceRate Bounds CollectiveBound Operation",
    "forestcoll.bounds.rooted": "RootedBound broadcast_bound reduce_bound",
    "forestcoll.bounds.table": "bounds_of",
    "forestcoll.collective": "Collective",
    "forestcoll.errors": "ForestcollError InputError InternalError NoSolutionError",
    "forestcoll.generation": "generate schedule_for",
    "forestcoll.method": "Method",
    "forestcoll.progress": "Progress",
    "forestcoll.schedule": "Phase PhaseOp Rows Schedule Shape Traffic Tree "
    "read_schedule shape_of traffic_of write_schedule",
    "forestcoll.targets.exporting": "Export Target export",
    "forestcoll.targets.judging": "Judgement judge_file",
    "forestcoll.topology": "Link Node NodeKind Topology TopologyBuilder read_topology write_topology",
    "forestcoll.topology.registry": "build_topology builders load_topology",
    "forestcoll.verification": "Fault Report verify",
}

__all__ = [
    "AllToAllOptimum",
    "AllreduceOptimum",
    "AllreduceRate",
    "Bounds",
    "Collective",
    "CollectiveBound",
    "Export",
    "Fault",
    "ForestcollError",
    "InputError",
    "InternalError",
    "Judgement",
    "Link",
    "Method",
    "NoSolutionError",
    "Node",
    "NodeKind",
    "Operation",
    "Optimum",
    "Phase",
    "PhaseOp",
    "Progress",
    "Report",
    "RootedBound",
    "Rows",
    "Schedule",
    "Shape",
    "Target",
    "Topology",
    "TopologyBuilder",
    "Traffic",
    "Tree",
    "all_to_all_optimum",
    "allreduce_optimum",
    "bounds_of",
    "broadcast_bound",
    "build_topology",
    "builders",
    "export",
    "generate",
    "judge_file",
    "load_topology",
    "optima_by_trees",
    "optimum",
    "read_schedule",
    "read_topology",
    "reduce_bound",
    "schedule_for",
    "shape_of",
    "traffic_of",
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
