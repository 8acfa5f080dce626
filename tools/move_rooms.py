# ruff: noqa: C901, D103, E501, FBT001, PLR0911, RUF021, S607
"""Move the packages of forestcoll into rooms: `python tools/move_rooms.py` in a checkout without changes.

The tables below are the whole plan. The script moves files with `git mv`, and rewrites imports (by the syntax tree),
dotted names in strings and documents, paths in documents, comments and configuration, and the depth of `__file__` in
tests. Then ruff sorts the imports and formats what became longer. It can be run again on a later commit of the old tree.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

MODULES = """
_native>kernels._native
_schedules>schedule._schedules
_runtime>runtime._runtime
files>base.files
folders>base.folders
reading_memory>base.reading_memory
endings>base.endings
file_kinds>base.file_kinds
json_parts>base.json_parts
units>base.units
exact>base.exact
progress>base.progress
version>base.version
display>base.display
counting>base.counting
errors>base.errors
core>kernels
topology.boxes>topology.graph.boxes
topology.box_distances>topology.graph.box_distances
topology.changes>topology.graph.changes
topology.least_arborescences>topology.graph.least_arborescences
topology.least_trees>topology.graph.least_trees
topology.link_classes>topology.graph.link_classes
topology.logical_network>topology.graph.logical_network
topology.metric>topology.graph.metric
topology.node_ports>topology.graph.node_ports
topology.overheads>topology.graph.overheads
topology.part>topology.graph.part
topology.reach>topology.graph.reach
topology.receive_limits>topology.graph.receive_limits
topology.symmetry>topology.symmetry.shifts
topology.orbits>topology.symmetry.orbits
topology.automorphisms>topology.symmetry.automorphisms
topology.clusters.box>topology.clusters.joining.box
topology.clusters.cluster>topology.clusters.joining.cluster
topology.clusters.fabric>topology.clusters.joining.fabric
topology.clusters.nics>topology.clusters.joining.nics
topology.clusters>topology.clusters.joining
topology.systems>topology.clusters
exporting.machines>topology.gpus
request>demand.demand
collective>demand.collective
ranks>demand.ranks
method>demand.method
groups>demand.groups
demand_matrix>demand.matrix
proof.distances>schedule.proof.lengths.distances
proof.group_lengths>schedule.proof.lengths.group_lengths
proof.lengths>schedule.proof.lengths.lengths
proof.link_lengths>schedule.proof.lengths.link_lengths
proof.tree_distances>schedule.proof.lengths.tree_distances
proof.tree_lengths>schedule.proof.lengths.tree_lengths
proof>schedule.proof
generation.baselines>algorithms.direct_networks
generation.steps>algorithms.by_steps
solver.generate>algorithms.generate
solver.flows>solver.personalised
generation>solver.generation
forest_optimum>solver.forests
allreduce>solver.allreduce
bounds>solver.bounds
exact_lp>solver.exact_lp
concurrent_flow>solver.flows
simultaneous>solver.groups
program.model>programs.model.program
program>programs.model
lowering>programs.lowering
interpreter.progress>programs.interpreter.order
verification.search>verification.first_wrong
verification.judges>verification.verifiers
verification.bundle.judge>verification.bundle.verifier
verification.flows.judge>verification.flows.verifier
verification.series.judge>verification.series.verifier
verification.steps.judge>verification.steps.verifier
verification.trees.judge>verification.trees.verifier
verification.bundle.case>verification.bundle.context
verification.flows.case>verification.flows.context
verification.routes.case>verification.routes.context
verification.steps.case>verification.steps.context
verification.trees.case>verification.trees.context
interpreter>programs.interpreter
targets>programs.formats
presentation.algorithms>algorithms.titles
baselines>algorithms
tuning.hop_bounds>simulation.lower_bound.hop_bounds
tuning.box_pairs>simulation.lower_bound.box_pairs
tuning.distances>simulation.lower_bound.distances
tuning.flows_over_time>simulation.lower_bound.flows_over_time
tuning.parts>simulation.lower_bound.parts
tuning.arrivals>simulation.lower_bound.arrivals
runtime.execution>runtime.engine.execution
runtime.exchange>runtime.engine.exchange
runtime.exchange_reference>runtime.engine.exchange_reference
runtime.reference>runtime.engine.reference
runtime.plan>runtime.engine.plan
runtime.sizing>runtime.engine.sizing
runtime.trees>runtime.engine.trees
runtime.elements>runtime.engine.elements
runtime.vectors>runtime.engine.vectors
runtime.work>runtime.engine.work
runtime.dumping>runtime.engine.dumping
emulation>runtime.emulation
launch>runtime.launch
environment>runtime.environment
oneport.platform>oneport.platform.platform
oneport.logical>oneport.platform.logical
oneport.arborescence>oneport.platform.arborescence
oneport.link_prices>oneport.platform.link_prices
oneport.odd_sets>oneport.platform.odd_sets
oneport.packing>oneport.platform.packing
oneport.shared_bandwidth>oneport.platform.shared_bandwidth
oneport.all_ports>oneport.series.all_ports
oneport.best_dag>oneport.series.best_dag
oneport.best_tree>oneport.series.best_tree
oneport.coloring>oneport.series.coloring
oneport.comparison>oneport.series.comparison
oneport.dag>oneport.series.dag
oneport.exchange>oneport.series.exchange
oneport.fewer_trees>oneport.series.fewer_trees
oneport.flow_form>oneport.series.flow_form
oneport.odd_coloring>oneport.series.odd_coloring
oneport.optimum>oneport.series.optimum
oneport.series>oneport.series.periodic
oneport.atomic>oneport.message.atomic
oneport.layered>oneport.message.layered
oneport.pipeline_bound>oneport.message.pipeline_bound
oneport.pipelined>oneport.message.pipelined
oneport.wave_search>oneport.message.wave_search
oneport.waves>oneport.message.waves
tuning.plot>presentation.results.programs.tuning_plot
tuning.folder>presentation.results.programs.tuning_folder
exporting>tuning.programs
design.bidirectional>design.expansions.bidirectional
design.cartesian_power>design.expansions.cartesian_power
design.cartesian_product>design.expansions.cartesian_product
design.degree_expansion>design.expansions.degree_expansion
design.line_graph>design.expansions.line_graph
design.parallel_links>design.expansions.parallel_links
design.expansions>design.expressions
design.catalogue>design.search.catalogue
design.cache>design.search.cache
design.divisors>design.search.divisors
design.factors>design.search.factors
design.finder>design.search.finder
design.sweep>design.search.sweep
design.workload>design.workloads.workload
training>design.workloads
torch.elements>torch.calls.elements
torch.graphs>torch.calls.graphs
torch.inner>torch.calls.inner
torch.operations>torch.calls.operations
torch.paths>torch.calls.paths
torch.work>torch.calls.work
torch.agreement>torch.schedules.agreement
torch.engines>torch.schedules.engines
torch.schedules>torch.schedules.cache
torch.store>torch.schedules.store
comparison.against.graph_file>nccl.graph_file
comparison.against.graphs>nccl.graphs
measured.nccl_log>nccl.log
measured>nccl
fitting>measurement.fit
probing>measurement.probe
bench>measurement.bench
presentation.networks>presentation.results.networks.networks
presentation.builders>presentation.results.networks.builders
presentation.imports>presentation.results.networks.imports
presentation.finder>presentation.results.networks.finder
presentation.exchange_rates>presentation.results.networks.exchange_rates
presentation.frontier_plot>presentation.results.networks.frontier_plot
presentation.training>presentation.results.networks.training
presentation.optimum>presentation.results.schedules.optimum
presentation.bounds>presentation.results.schedules.bounds
presentation.explanations>presentation.results.schedules.explanations
presentation.relays>presentation.results.schedules.relays
presentation.groups>presentation.results.schedules.groups
presentation.flows>presentation.results.schedules.flows
presentation.trees>presentation.results.schedules.trees
presentation.steps>presentation.results.schedules.steps
presentation.series>presentation.results.schedules.series
presentation.pipeline>presentation.results.schedules.pipeline
presentation.reports>presentation.results.schedules.reports
presentation.simulation>presentation.results.schedules.simulation
presentation.comparison>presentation.results.comparisons.comparison
presentation.comparison_notebook>presentation.results.comparisons.comparison_notebook
presentation.answers>presentation.results.comparisons.answers
presentation.what_if>presentation.results.comparisons.what_if
presentation.bench>presentation.results.measurements.bench
presentation.probe>presentation.results.measurements.probe
presentation.measured>presentation.results.measurements.measured
presentation.fitting>presentation.results.measurements.fitting
presentation.programs>presentation.results.programs.programs
presentation.tuning>presentation.results.programs.tuning
pages>presentation.pages
pictures>presentation.pictures
"""
"""Old module > new module, the first match counts; a package takes its members with it. The order matters."""

PACKAGES = {
    "base": "What everything uses and what knows nothing of networks: files, exact numbers, units, errors, progress.",
    "demand": "What is asked for: the collective, its ranks, root and shards, demand matrices, groups, and the method.",
    "measurement": "Measures real machines: schedules between processes, links, and the costs that explain the times.",
    "programs": "Programs for runtimes: the model, the lowering of schedules, the interpreter that checks them, file formats.",
    "topology.graph": "Questions about a network as a graph, and networks derived from it.",
    "topology.symmetry": "The symmetry of a network: commuting shifts, how they are found, and their orbits.",
    "schedule.proof.lengths": "Proofs by lengths of links.",
    "simulation.lower_bound": "A lower bound of the time of every program for data of one size.",
    "runtime.engine": "The work of one rank as the native engine runs it: plans, sizes, elements and handles.",
    "oneport.platform": "The platform of a series of broadcasts: costs of links, ports, and what links share.",
    "oneport.series": "A series of broadcasts: its optimum, its trees, and its periodic schedule.",
    "oneport.message": "One message: divided into packets, or sent as a whole.",
    "design.expansions": "Expansions of networks, one a file: the larger network, its cost and its schedule.",
    "design.search": "The topology finder: base networks, factors, frontiers and sweeps.",
    "torch.calls": "The calls of a process group: which way each goes, and its handle.",
    "torch.schedules": "The schedules of the backend: computed once, agreed by all ranks, and run by communicators.",
    "presentation.results": "Each result as text, JSON and HTML; one file a result.",
    "presentation.results.comparisons": "Comparisons of algorithms and of changed networks.",
    "presentation.results.measurements": "Measurements of real machines.",
    "presentation.results.networks": "Networks, builders, imports, and networks that the finder found.",
    "presentation.results.programs": "Programs and tunings.",
    "presentation.results.schedules": "Optima, bounds, and schedules of each kind.",
}
"""New packages, with the docstrings of their `__init__.py`."""

STUBS = {
    "src/forestcoll/_native.pyi": "src/forestcoll/kernels/_native.pyi",
    "src/forestcoll/_schedules.pyi": "src/forestcoll/schedule/_schedules.pyi",
    "src/forestcoll/_runtime.pyi": "src/forestcoll/runtime/_runtime.pyi",
}

FOLDERS = """
tests/exporting/test_machines_of_programs.py>tests/topology/test_gpus.py
tests/topology/test_least_arborescences.py>tests/topology/graph/test_least_arborescences.py
tests/comparison/test_against_graphs.py>tests/nccl/test_against_graphs.py
tests/oneport/test_shared_bandwidth.py>tests/oneport/platform/test_shared_bandwidth.py
tests/topology/test_logical_network.py>tests/topology/graph/test_logical_network.py
tests/topology/test_receive_limits.py>tests/topology/graph/test_receive_limits.py
tests/topology/test_automorphisms.py>tests/topology/symmetry/test_automorphisms.py
tests/tuning/test_flows_over_time.py>tests/simulation/lower_bound/test_flows_over_time.py
tests/bench/test_fabric_benchmark.py>tests/benchmarks/test_fabric_benchmark.py
tests/generation/test_baselines.py>tests/algorithms/test_direct_networks.py
tests/oneport/test_arborescence.py>tests/oneport/platform/test_arborescence.py
tests/topology/test_least_trees.py>tests/topology/graph/test_least_trees.py
benchmarks/allreduce_hypothesis.py>evidence/allreduce_hypothesis.py
benchmarks/circulant_conjecture.py>evidence/circulant_conjecture.py
tests/oneport/test_port_models.py>tests/oneport/platform/test_port_models.py
tests/verification/test_judges.py>tests/verification/test_verifiers.py
tests/test_collective_request.py>tests/demand/test_collective_request.py
benchmarks/forest_trees_table.py>evidence/forest_trees_table.py
tests/oneport/test_overheads.py>tests/oneport/platform/test_overheads.py
tests/oneport/test_pipelined.py>tests/oneport/message/test_pipelined.py
tests/topology/test_symmetry.py>tests/topology/symmetry/test_symmetry.py
tests/tuning/test_hop_bounds.py>tests/simulation/lower_bound/test_hop_bounds.py
benchmarks/forest_generation.py>evidence/forest_generation.py
benchmarks/document_pictures.py>tools/document_pictures.py
tests/oneport/test_odd_sets.py>tests/oneport/platform/test_odd_sets.py
tests/oneport/test_packings.py>tests/oneport/platform/test_packings.py
tests/topology/test_changes.py>tests/topology/graph/test_changes.py
tests/tuning/test_box_pairs.py>tests/simulation/lower_bound/test_box_pairs.py
tests/tuning/test_distances.py>tests/simulation/lower_bound/test_distances.py
benchmarks/fabric_schedules.py>tests/common/fabric_schedules.py
benchmarks/allreduce_factor.py>evidence/allreduce_factor.py
tests/topology/test_metric.py>tests/topology/graph/test_metric.py
tests/tuning/test_arrivals.py>tests/simulation/lower_bound/test_arrivals.py
benchmarks/fabric_networks.py>tests/common/fabric_networks.py
benchmarks/published_shape.py>evidence/published_shape.py
tests/oneport/test_atomic.py>tests/oneport/message/test_atomic.py
tests/topology/test_boxes.py>tests/topology/graph/test_boxes.py
tests/test_reading_memory.py>tests/base/test_reading_memory.py
benchmarks/mixed_networks.py>tests/common/mixed_networks.py
benchmarks/fabric_picture.py>tests/common/fabric_picture.py
benchmarks/native_lines.toml>tools/native_lines.toml
tests/test_failing_files.py>tests/base/test_failing_files.py
tests/test_scale_records.py>tests/benchmarks/test_scale_records.py
benchmarks/scale_records.py>tests/common/scale_records.py
benchmarks/forest_curves.py>evidence/forest_curves.py
benchmarks/published_fit.py>evidence/published_fit.py
benchmarks/cayley_search.py>evidence/cayley_search.py
native/bindings/module.cpp>native/bindings/kernels.cpp
tests/tuning/test_parts.py>tests/simulation/lower_bound/test_parts.py
tests/test_public_names.py>tests/contracts/test_public_names.py
tests/oneport_platforms.py>tests/common/oneport_platforms.py
benchmarks/data_centres.py>tests/common/data_centres.py
benchmarks/fabric_table.py>tests/common/fabric_table.py
benchmarks/forest_paths.py>evidence/forest_paths.py
benchmarks/paper_tables.py>evidence/paper_tables.py
benchmarks/runtime_soak.py>soak/runtime_soak.py
benchmarks/packing_soak.py>soak/packing_soak.py
benchmarks/forest_h100.py>evidence/forest_h100.py
benchmarks/fault_group.py>soak/fault_group.py
benchmarks/reliability.py>soak/reliability.py
tests/test_collective.py>tests/demand/test_collective.py
tests/test_no_circles.py>tests/contracts/test_no_circles.py
tests/plain_transfers.py>tests/common/plain_transfers.py
tests/test_notebooks.py>tests/contracts/test_notebooks.py
benchmarks/published.py>tests/common/published.py
benchmarks/agreement.py>soak/agreement.py
tests/test_counting.py>tests/base/test_counting.py
tests/verify_drafts.py>tests/common/verify_drafts.py
tests/verify_oracle.py>tests/common/verify_oracle.py
tests/concurrent_flow>tests/solver/flows
tests/test_display.py>tests/base/test_display.py
tests/flow_demands.py>tests/common/flow_demands.py
tests/flow_oracles.py>tests/common/flow_oracles.py
tests/plain_events.py>tests/common/plain_events.py
tests/routed_steps.py>tests/common/routed_steps.py
benchmarks/methods.py>tests/common/methods.py
benchmarks/figures.py>evidence/figures.py
benchmarks/mutants.py>soak/mutants.py
benchmarks/covered.py>tools/covered.py
tests/forest_optimum>tests/solver/forests
tests/test_errors.py>tests/base/test_errors.py
tests/fault_lists.py>tests/common/fault_lists.py
benchmarks/published>tests/common/published
benchmarks/papers.py>evidence/papers.py
benchmarks/faults.py>soak/faults.py
tests/test_files.py>tests/base/test_files.py
tests/test_exact.py>tests/base/test_exact.py
tests/test_units.py>tests/base/test_units.py
tests/test_ranks.py>tests/demand/test_ranks.py
tests/one_answer.py>tests/common/one_answer.py
benchmarks/evidence>evidence/exhibits
benchmarks/mutation>soak/mutation
tests/simultaneous>tests/solver/groups
tests/sanitized.py>tests/common/sanitized.py
benchmarks/soak.py>soak/soak.py
tests/interpreter>tests/programs/interpreter
tests/networks.py>tests/common/networks.py
native/interpret>native/interpreter
tests/generation>tests/solver/generation
tests/oracles.py>tests/common/oracles.py
tests/started.py>tests/common/started.py
native/generate>native/generation
native/simulate>native/simulation
tests/allreduce>tests/solver/allreduce
tests/baselines>tests/algorithms
tests/emulation>tests/runtime/emulation
tests/exporting>tests/tuning/programs
benchmarks/fuzz>soak/fuzz
tests/exact_lp>tests/solver/exact_lp
tests/lowering>tests/programs/lowering
tests/measured>tests/nccl
tests/pictures>tests/presentation/pictures
tests/training>tests/design/workloads
native/verify>native/verification
tests/fitting>tests/measurement/fit
tests/oneport>tests/oneport/series
tests/probing>tests/measurement/probe
tests/program>tests/programs/model
tests/targets>tests/programs/formats
tests/bounds>tests/solver/bounds
tests/groups>tests/demand/groups
tests/bench>tests/measurement/bench
tests/pages>tests/presentation/pages
tests/proof>tests/schedule/proof
tests/core>tests/kernels
"""
"""Files and folders outside the package, old > new; the first match counts."""

ROOT = Path.cwd()
SOURCE = "src/forestcoll/"
TEXTS = {".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".txt", ".ipynb", ".h", ".cpp", ".json", ""}
EDITS = {
    "CMakeLists.txt": [
        ("function(forestcoll_module name source)", "function(forestcoll_module name source room)"),
        ("LIBRARY DESTINATION forestcoll)", "LIBRARY DESTINATION forestcoll/${room})"),
        ("forestcoll_module(_native module.cpp)", "forestcoll_module(_native kernels.cpp kernels)"),
        ("forestcoll_module(_schedules schedules.cpp)", "forestcoll_module(_schedules schedules.cpp schedule)"),
        ("forestcoll_module(_runtime runtime.cpp)", "forestcoll_module(_runtime runtime.cpp runtime)"),
        ('_native_build.txt" DESTINATION forestcoll)', '_native_build.txt" DESTINATION forestcoll/kernels)'),
    ],
    "pyproject.toml": [
        (
            'pythonpath = ["benchmarks"]  # some tests use the comparisons and networks of the benchmarks',
            'pythonpath = ["tests/common", "evidence", "soak", "tools"]  # what tests share, and what they test',
        ),
        (
            'files = ["src", "tests", "benchmarks", "examples"]',
            'files = ["src", "tests", "benchmarks", "evidence", "soak", "tools", "examples"]',
        ),
        ('mypy_path = "src"', 'mypy_path = "src:tests/common"'),
        ('src = ["src", "tests"]', 'src = ["src", "tests", "tests/common", "evidence", "soak", "tools"]'),
    ],
}
"""Texts that no rule below finds, in the files that have them."""


def pairs(table: str) -> list[tuple[str, str]]:
    """Return the rows of a table."""
    return [(old, new) for old, _, new in (row.partition(">") for row in table.split("\n")) if new]


def lines_of(*command: str) -> list[str]:
    """Run a command in the checkout, and return the lines that it prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def moved(name: str, table: list[tuple[str, str]], separator: str) -> str:
    """Return the new name of a module or a path."""
    for old, new in table:
        if name == old or name.startswith(old + separator):
            return new + name[len(old) :]
    return name


RULES = pairs(MODULES)
PATHS = pairs(FOLDERS)
FILES = lines_of("git", "ls-files")


def module_of(path: str) -> str:
    return (
        path.removeprefix(SOURCE).removesuffix(".pyi").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    )


OLD = {module_of(each): each for each in FILES if each.startswith(SOURCE) and each.endswith(".py")}
OLD |= {module_of(each): each for each in STUBS}
"""Each module of the package without the name of the package, and its file."""


def new_module(name: str) -> str:
    return moved(name, RULES, ".")


def new_path(path: str) -> str:
    """Return the new path of a file of the repository."""
    if path in STUBS:
        return STUBS[path]
    if not path.startswith(SOURCE):
        return moved(path, PATHS, "/")
    if path.endswith(".py"):
        module = module_of(path)
        if module in {"__init__", "__main__"}:
            return path
        place = SOURCE + new_module(module).replace(".", "/")
        return f"{place}/__init__.py" if path.endswith("/__init__.py") else f"{place}.py"
    folder, _, name = path.removeprefix(SOURCE).rpartition("/")
    return f"{SOURCE}{new_module(folder.replace('/', '.')).replace('.', '/')}/{name}" if folder else path


NEW_PATHS = {path: new_path(path) for path in FILES}


def exported(module: str) -> set[str]:
    """Return the names that the `__init__.py` of a package defines or imports."""
    path = OLD[module]
    if not path.endswith("__init__.py"):
        return set()
    tree = ast.parse((ROOT / path).read_text())
    names = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return names | {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


EXPORTED = {module: exported(module) for module in OLD}
DONE = "forestcoll\0"
"""The name of the package in imports that are rewritten already."""


def import_groups(package: str, names: list[ast.alias], prefix: str) -> dict[str, list[str]]:
    """Return the names that a `from` import brings, by the new module that they come from."""
    groups: dict[str, list[str]] = {}
    for alias in names:
        full = f"{package}.{alias.name}" if package else alias.name
        if full in OLD and alias.name not in EXPORTED.get(package, set()):
            parent, _, base = new_module(full).rpartition(".")
            alias_name = alias.asname or alias.name
            text = base if base == alias_name else f"{base} as {alias_name}"
        else:
            parent = new_module(package)
            text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        groups.setdefault(f"{prefix}.{parent}" if parent and prefix != "." else f"{prefix}{parent}", []).append(text)
    return groups


def with_new_imports(text: str) -> str:
    """Return the text of a Python file with its imports of moved modules rewritten."""
    lines = text.split("\n")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda each: -each.lineno):
        module = node.module or ""
        if node.level == 0 and (module == "forestcoll" or module.startswith("forestcoll.")):
            package, prefix = module.removeprefix("forestcoll").lstrip("."), DONE
        elif node.level == 1 and text.startswith("# The public names"):
            package, prefix = module, "."
        else:
            continue
        groups = import_groups(package, node.names, prefix)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        old = f"from {'.' * node.level}{module} import"
        if len(groups) == 1 and not any(" as " in each for each in next(iter(groups.values()))) or prefix == ".":
            lines[first] = lines[first].replace(old, f"from {next(iter(groups))} import", 1)
            continue
        indent = " " * node.col_offset
        comment = lines[first].partition("  #")[2]
        new = [f"{indent}from {parent} import {', '.join(brought)}" for parent, brought in groups.items()]
        lines[first : last + 1] = [f"{new[0]}  #{comment}" if comment else new[0], *new[1:]]
    return "\n".join(lines)


DOTTED = re.compile(r"(?<![\w/.-])forestcoll((?:\.[A-Za-z_]\w*)+)(?!/\d)(?!-)")
FROM_LINE = re.compile(r"(?<![\w.])from forestcoll((?:\.\w+)+) import (\w+(?:, \w+)*)")


def with_new_names(text: str) -> str:
    """Return a text with the dotted names of moved modules rewritten, also in examples and documents."""

    def example(match: re.Match[str]) -> str:
        names = [ast.alias(name) for name in match[2].split(", ")]
        groups = import_groups(match[1].lstrip("."), names, DONE)
        return "; ".join(f"from {parent} import {', '.join(brought)}" for parent, brought in groups.items())

    def dotted(match: re.Match[str]) -> str:
        parts = match[1][1:].split(".")
        for length in range(len(parts), 0, -1):
            if (
                parts[:length][-1] not in EXPORTED.get(".".join(parts[: length - 1]), ())
                and ".".join(parts[:length]) in OLD
            ):
                return ".".join(["forestcoll", new_module(".".join(parts[:length])), *parts[length:]])
        return match[0]

    return DOTTED.sub(dotted, FROM_LINE.sub(example, text)).replace(DONE, "forestcoll")


PATH = re.compile(
    r"(?<![\w/.$*-])((?:src/forestcoll/)?)((?:[a-z_0-9]+/)+)([a-z_0-9-]+\.(?:py|h|cpp|css|js|toml|csv)\b)?"
)


def with_new_paths(text: str, document: bool) -> str:
    """Return a text with the paths of moved files rewritten; paths of folders only in documents and in backticks."""

    def path(match: re.Match[str]) -> str:
        source, folder, name = match[1], match[2], match[3] or ""
        token = folder + name
        if name:
            if not source and token in NEW_PATHS:
                return NEW_PATHS[token]
            if SOURCE + token in NEW_PATHS:
                new = NEW_PATHS[SOURCE + token]
                return new if source else new.removeprefix(SOURCE)
            if "native/" + token in NEW_PATHS:
                return NEW_PATHS["native/" + token].removeprefix("native/")
            if "benchmarks/" + token in NEW_PATHS and not document:
                return match[0]
            return match[0]
        quoted = match.start() > 0 and match.string[match.start() - 1] == "`"
        if not (source or (quoted and document) or token.startswith(("tests/", "benchmarks/", "native/"))):
            return match[0]
        bare = folder.rstrip("/")
        if bare.startswith(("tests/", "benchmarks/", "native/")):
            return moved(bare, PATHS, "/") + "/"
        if bare.replace("/", ".") in OLD:
            return source + new_module(bare.replace("/", ".")).replace(".", "/") + "/"
        return match[0]

    return PATH.sub(path, text)


def with_new_depth(text: str, old: str, new: str) -> str:
    """Return the text of a moved file in which `Path(__file__).parents[N]` leads to the same folder."""
    deeper = new.count("/") - old.count("/")
    return re.sub(r"(Path\(__file__\)\.parents\[)(\d+)\]", lambda match: f"{match[1]}{int(match[2]) + deeper}]", text)


def rewritten(path: str, text: str) -> str:
    """Return the new text of the file that was at `path`."""
    if path.endswith((".py", ".pyi")):
        text = with_new_imports(text)
        text = re.sub(r"\b(from|import) evidence(\.| import)", r"\1 exhibits\2", text)
        text = text.replace('parent.parent / "tests"))', 'parents[1] / "tests" / "common"))')
        text = text.replace('parents[2] / "tests"))', 'parents[2] / "tests" / "common"))')
    text = with_new_paths(with_new_names(text), document=path.endswith(".md"))
    if not path.startswith(SOURCE):
        text = with_new_depth(text, path, NEW_PATHS[path])
    for old, new in EDITS.get(path, []):
        if old not in text:
            raise SystemExit(f"{path}: there is no text {old!r}")
        text = text.replace(old, new)
    return text


def wanted(path: str) -> bool:
    if path.startswith(("docs/evidence/pictures", "docs/pictures", "tests/golden", "tests/fuzz/regressions")):
        return False
    if (
        "/recorded/" in path
        or path.startswith("tools/move_rooms")
        or path == "LICENSE"
        or path.endswith("CHANGELOG.md")
    ):
        return False
    return Path(path).suffix in TEXTS or path in {"Makefile", ".ci/run"}


def main() -> None:
    """Move everything."""
    if (ROOT / SOURCE / "base").exists():
        raise SystemExit("src/forestcoll/base exists: the rooms are there already")
    texts = {path: (ROOT / path).read_text() for path in FILES if wanted(path)}
    new_texts = {NEW_PATHS[path]: rewritten(path, text) for path, text in texts.items()}
    targets = list(NEW_PATHS.values())
    if len(set(targets)) != len(targets):
        raise SystemExit(f"two files of one name: {sorted({each for each in targets if targets.count(each) > 1})}")
    # Files move by way of a folder of their own, because a new folder may have the name of an old file.
    moves = [(old, new) for old, new in NEW_PATHS.items() if old != new]
    for index, (old, _) in enumerate(moves):
        (ROOT / old).rename(ROOT / f".move-{index}")
    for index, (_, new) in enumerate(moves):
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / f".move-{index}").rename(ROOT / new)
    for path, text in new_texts.items():
        if (ROOT / path).read_text() != text:
            (ROOT / path).write_text(text)
    for package, sentence in PACKAGES.items():
        place = ROOT / SOURCE / package.replace(".", "/") / "__init__.py"
        if not place.exists():
            place.write_text(f'"""{sentence}"""\n')
    for folder in sorted(ROOT.glob("**/__pycache__")):
        if not folder.is_relative_to(ROOT / ".venv"):
            subprocess.run(["rm", "-rf", str(folder)], check=True)
    lines_of("find", "src", "tests", "benchmarks", "native", "-type", "d", "-empty", "-delete")
    lines_of("git", "add", "-A")
    sys.stdout.write(f"{len(moves)} files moved\n")


if __name__ == "__main__":
    main()
