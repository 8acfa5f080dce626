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
    from forestcoll.bounds import Optimum, optima_by_trees, optimum, optimum_without_relays
    from forestcoll.bounds.all_to_all import AllToAllOptimum, all_to_all_optimum, all_to_all_rate
    from forestcoll.bounds.allreduce import AllreduceOptimum, allreduce_optimum
    from forestcoll.bounds.limits import AllreduceRate, Bounds, CollectiveBound, Operation
    from forestcoll.bounds.rooted import RootedBound, broadcast_bound, reduce_bound
    from forestcoll.bounds.table import bounds_of
    from forestcoll.collective import Collective
    from forestcoll.design.finder import Frontier, TopologyFinder, find_topologies
    from forestcoll.design.realisation import schedule_of, topology_of
    from forestcoll.errors import ForestcollError, InputError, InternalError, NoSolutionError
    from forestcoll.generation import generate, schedule_for
    from forestcoll.generation.steps import generate_steps
    from forestcoll.lowering import Lowering, lower
    from forestcoll.method import Method, StepMethod
    from forestcoll.oneport.comparison import Along, SeriesComparison, compare_series
    from forestcoll.oneport.pipelined import PipelinePlan, pipelined_broadcast
    from forestcoll.oneport.simulation import SeriesRun, simulate_series
    from forestcoll.progress import Progress
    from forestcoll.ranks import without_relays
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
    from forestcoll.schedule.periodic import PeriodicSchedule
    from forestcoll.schedule.periodic_document import read_series, write_series
    from forestcoll.schedule.step_cost import StepCost, cost_of
    from forestcoll.schedule.step_document import read_steps, write_steps
    from forestcoll.schedule.steps import StepPhase, StepSchedule, Transfer, Transfers
    from forestcoll.simulation import Costs, Point, simulate
    from forestcoll.targets.exporting import Export, Target, export
    from forestcoll.targets.judging import Judgement, judge_file
    from forestcoll.topology import Link, Node, NodeKind, Topology, TopologyBuilder, read_topology, write_topology
    from forestcoll.topology.registry import build_topology, builders, load_topology
    from forestcoll.verification import Fault, Report, verify
    from forestcoll.verification.series import SeriesReport, verify_series
    from forestcoll.verification.steps import StepReport, verify_steps

# Imported on first use: the command line must start before NumPy has loaded.
_HOMES = {
    "forestcoll.bounds": "Optimum optima_by_trees optimum optimum_without_relays",
    "forestcoll.bounds.all_to_all": "AllToAllOptimum all_to_all_optimum all_to_all_rate",
    "forestcoll.bounds.allreduce": "AllreduceOptimum allreduce_optimum",
    "forestcoll.bounds.limits": "AllreduceRate Bounds CollectiveBound Operation",
    "forestcoll.bounds.rooted": "RootedBound broadcast_bound reduce_bound",
    "forestcoll.bounds.table": "bounds_of",
    "forestcoll.collective": "Collective",
    "forestcoll.design.finder": "Frontier TopologyFinder find_topologies",
    "forestcoll.design.realisation": "schedule_of topology_of",
    "forestcoll.errors": "ForestcollError InputError InternalError NoSolutionError",
    "forestcoll.generation": "generate schedule_for",
    "forestcoll.generation.steps": "generate_steps",
    "forestcoll.lowering": "Lowering lower",
    "forestcoll.method": "Method StepMethod",
    "forestcoll.oneport.comparison": "Along SeriesComparison compare_series",
    "forestcoll.oneport.pipelined": "PipelinePlan pipelined_broadcast",
    "forestcoll.oneport.simulation": "SeriesRun simulate_series",
    "forestcoll.progress": "Progress",
    "forestcoll.ranks": "without_relays",
    "forestcoll.schedule": "Phase PhaseOp Rows Schedule Shape Traffic Tree read_schedule shape_of traffic_of "
    "write_schedule",
    "forestcoll.schedule.periodic": "PeriodicSchedule",
    "forestcoll.schedule.periodic_document": "read_series write_series",
    "forestcoll.schedule.step_cost": "StepCost cost_of",
    "forestcoll.schedule.step_document": "read_steps write_steps",
    "forestcoll.schedule.steps": "StepPhase StepSchedule Transfer Transfers",
    "forestcoll.simulation": "Costs Point simulate",
    "forestcoll.targets.exporting": "Export Target export",
    "forestcoll.targets.judging": "Judgement judge_file",
    "forestcoll.topology": "Link Node NodeKind Topology TopologyBuilder read_topology write_topology",
    "forestcoll.topology.registry": "build_topology builders load_topology",
    "forestcoll.verification": "Fault Report verify",
    "forestcoll.verification.series": "SeriesReport verify_series",
    "forestcoll.verification.steps": "StepReport verify_steps",
}

__all__ = [
    "AllToAllOptimum",
    "AllreduceOptimum",
    "AllreduceRate",
    "Along",
    "Bounds",
    "Collective",
    "CollectiveBound",
    "Costs",
    "Export",
    "Fault",
    "ForestcollError",
    "Frontier",
    "InputError",
    "InternalError",
    "Judgement",
    "Link",
    "Lowering",
    "Method",
    "NoSolutionError",
    "Node",
    "NodeKind",
    "Operation",
    "Optimum",
    "PeriodicSchedule",
    "Phase",
    "PhaseOp",
    "PipelinePlan",
    "Point",
    "Progress",
    "Report",
    "RootedBound",
    "Rows",
    "Schedule",
    "SeriesComparison",
    "SeriesReport",
    "SeriesRun",
    "Shape",
    "StepCost",
    "StepMethod",
    "StepPhase",
    "StepReport",
    "StepSchedule",
    "Target",
    "Topology",
    "TopologyBuilder",
    "TopologyFinder",
    "Traffic",
    "Transfer",
    "Transfers",
    "Tree",
    "all_to_all_optimum",
    "all_to_all_rate",
    "allreduce_optimum",
    "bounds_of",
    "broadcast_bound",
    "build_topology",
    "builders",
    "compare_series",
    "cost_of",
    "export",
    "find_topologies",
    "generate",
    "generate_steps",
    "judge_file",
    "load_topology",
    "lower",
    "optima_by_trees",
    "optimum",
    "optimum_without_relays",
    "pipelined_broadcast",
    "read_schedule",
    "read_series",
    "read_steps",
    "read_topology",
    "reduce_bound",
    "schedule_for",
    "schedule_of",
    "shape_of",
    "simulate",
    "simulate_series",
    "topology_of",
    "traffic_of",
    "verify",
    "verify_series",
    "verify_steps",
    "without_relays",
    "write_schedule",
    "write_series",
    "write_steps",
    "write_topology",
]


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'forestcoll' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
