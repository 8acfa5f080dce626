# The public names, each declared here once: `__init__.py` imports them on first use. They stand under their topics, in
# whose order the documentation has them; a topic also has the names of the namespaces in brackets.
# isort: off

# Networks (topology): Where a collective runs: built by name, read from a file of any tool, or made node by node.
from . import topology as topology
from .topology.registry import load_topology as load_topology
from .topology.registry import builders as builders
from .topology import Topology as Topology
from .topology import TopologyBuilder as TopologyBuilder
from .topology import Node as Node
from .topology import Link as Link
from .topology import write_topology as write_topology

# Demands (demand): What is asked for: one collective, several at the same time, or pieces of data.
from . import demand as demand
from .demand.collective import Collective as Collective
from .demand.demand import Demand as Demand
from .demand.groups.groups import Groups as Groups
from .demand.groups.pieces import Piece as Piece

# Optimum (solver): What no schedule can beat, with a proof that anyone can check by addition.
from .algorithms.generate import optimum as optimum
from .algorithms.frontier import StepFrontier as StepFrontier
from .algorithms.frontier import step_frontier as step_frontier
from .schedule.proof.optimum import Optimum as Optimum
from .solver.bounds.table import bounds as bounds
from .solver.bounds.values import Bounds as Bounds
from .schedule.proof import Bound as Bound
from .schedule.proof import Proof as Proof

# Schedules (algorithms, schedule): Who sends what to whom, over which links, and the methods that make schedules.
from . import algorithms as algorithms
from . import schedule as schedule
from .algorithms.generate import generate as generate
from .algorithms.trees import Trees as Trees
from .algorithms.flows import Flows as Flows
from .algorithms.exchange_steps import Steps as Steps
from .schedule.files import read_schedule as read_schedule
from .schedule.files import write_schedule as write_schedule
from .schedule.schedule import Schedule as Schedule
from .schedule.trees.value import TreeSchedule as TreeSchedule
from .schedule.steps.value import StepSchedule as StepSchedule
from .schedule.flows.value import FlowSchedule as FlowSchedule
from .schedule.bundle.value import BundleSchedule as BundleSchedule
from .schedule.series.value import SeriesSchedule as SeriesSchedule

# Checks (verification): Whether a schedule, from any source, does what it claims.
from .algorithms.verify import verify as verify
from .verification import Report as Report
from .verification import Fault as Fault

# Times (simulation, measurement): How long a schedule takes for each size of data, and costs fitted to measured times.
from .algorithms.simulate import simulate as simulate
from .simulation.costs import Costs as Costs
from .simulation.costs import Point as Point
from .measurement.fit import fit_costs as fit_costs

# Programs (programs, tuning): Files that a runtime executes, and the best of them for each size of data.
from .tuning.programs.export import export as export
from .programs.targets.target import Export as Export
from .tuning.tune import tune as tune
from .tuning.value import Tuning as Tuning

# Questions (comparison, what_if, nccl): Comparisons with other algorithms and with logs, failures, and upgrades.
from . import nccl as nccl
from .comparison import compare as compare
from .comparison import Comparison as Comparison
from .what_if.study import failures as failures
from .what_if.upgrades import upgrades as upgrades
from .what_if.additions import additions as additions
from .nccl.comparison import explain as explain
from .nccl.job.explained import explain_job as explain_job

# Network design (design): Networks that are built for collectives.
from . import design as design
from .design.search.finder import find_topologies as find_topologies
from .design.expanding import expand as expand

# One-port platforms (oneport): Series of broadcasts, and single messages, where a node talks to one other at a time.
from . import oneport as oneport

# Running (runtime, torch): Schedules between processes: on NumPy arrays, and as a backend of PyTorch.
from . import runtime as runtime

# Pictures and reports (presentation): Schedules, networks and comparisons as pages and drawings.
from .presentation.view.view import view as view
from .presentation.pages.report import html_report as html_report

# Errors and progress: What can go wrong, and how long work reports on itself.
from .base.errors import ForestcollError as ForestcollError
from .base.errors import InputError as InputError
from .base.errors import NoSolutionError as NoSolutionError
from .base.errors import CommunicationError as CommunicationError
from .base.errors import InternalError as InternalError
from .base.progress import Progress as Progress
from .base.version import __version__ as __version__
