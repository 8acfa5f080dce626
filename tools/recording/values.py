"""The public names of Python: their signatures, and values with their texts, their HTML and their properties."""

import enum
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import forestcoll as fc
import forestcoll.measurement
import forestcoll.presentation
import forestcoll.programs
import forestcoll.simulation
import forestcoll.solver
import forestcoll.verification
import forestcoll.what_if
from forestcoll.algorithms.method import methods
from recording.inputs import inputs
from recording.running import Outputs, write_files

A100 = "dgx-a100:boxes=2"
MI250 = "mi250:boxes=2,gpus=8"
FIGURE_1 = Path("figure-1.json")
LOG = Path("nccl-tests.log")

VALUES: dict[str, Callable[[], Any]] = {
    "version": lambda: fc.__version__,
    "builders": lambda: [(each.name, each.group, each.summary, each.source) for each in fc.builders()],
    "topology": lambda: fc.load_topology(A100),
    "topology of a file": lambda: fc.topology.read_topology(Path("hosts.json")),
    "nodes": lambda: fc.load_topology(A100).nodes,
    "links": lambda: fc.load_topology("odd.json").links,
    "changed network": lambda: fc.load_topology(A100).without("b0/gpu0--ib").degraded("b0/gpu1--ib", to=12.5),
    "network without relays": lambda: fc.demand.without_relays(A100, "0-3,8-11"),
    "imported": lambda: fc.topology.import_topology("topo.txt", options=fc.topology.ImportOptions(nvlink=Fraction(25))),
    "networkx": lambda: fc.topology.to_networkx(fc.load_topology("hosts.json")).adj,
    "networkx with capacities": lambda: fc.load_topology(_graph("capacity")),
    "from networkx": lambda: fc.topology.from_networkx(fc.topology.to_networkx(fc.load_topology("hosts.json"))),
    "optimum": lambda: fc.optimum(A100),
    "optimum of one tree": lambda: fc.optimum(A100, method="trees:k=1"),
    "optimum of few trees": lambda: fc.optimum(MI250, method="trees:most=4"),
    "optimum of some ranks": lambda: fc.optimum(A100, "allgather:ranks='0-3,8-11'"),
    "optimum without relays": lambda: fc.optimum(A100, "allgather:ranks='0-3,8-11'").relays,
    "optimum of a broadcast": lambda: fc.optimum(A100, "broadcast:root=b0/gpu0"),
    "optimum of an allreduce": lambda: fc.optimum(MI250, "allreduce"),
    "optimum with shards": lambda: fc.optimum(
        "ring:nodes=3", fc.Demand("reduce-scatter", shards={0: "1/2", 1: "1/4", 2: "1/4"})
    ),
    "optimum of a request": lambda: fc.optimum(A100, fc.Demand("reduce", root="b0/gpu0")),
    "optimum with switches": lambda: fc.optimum("unbalanced.json"),
    "optimum by trees": lambda: fc.optimum(A100, method="trees:most=20").by_trees,
    "optimum of flows": lambda: fc.optimum(A100, "all-to-all"),
    "optimum of a matrix": lambda: fc.optimum(
        "ring:nodes=3", fc.Demand("all-to-all", matrix=[[0, "1/2", 0], [0, 0, "1/2"], ["1/2", 0, 0]])
    ),
    "optimum of groups": lambda: fc.optimum(A100, fc.Groups("tp=8,dp=2", "allreduce")),
    "optimum of pieces": lambda: fc.optimum("dgx-a100:boxes=2,gpus=2", fc.Groups(pieces="pieces.json")),
    "gains of groups": lambda: fc.optimum(A100, fc.Groups("0,8;1,9", "allreduce")).gains,
    "table of a layout": lambda: fc.solver.layout_table(A100, fc.Groups("tp=8,dp=2", "allreduce")),
    "layout": lambda: fc.demand.Layout.of("tp=8,dp=2"),
    "groups of a file": lambda: fc.demand.read_groups("groups.json", fc.load_topology("hypercube:dim=3")),
    "pieces": lambda: fc.demand.read_pieces("pieces.json"),
    "matrix": lambda: fc.demand.read_matrix("demand.csv", fc.load_topology("dgx-a100:boxes=2,gpus=2")),
    "allreduce by a linear program": lambda: fc.solver.allreduce_optimum(MI250),
    "allreduce with equal roots": lambda: fc.solver.allreduce_optimum("hosts.json", equal_roots=True),
    "bounds": lambda: fc.bounds_of(MI250),
    "bound of a gather": lambda: fc.solver.bound_of(fc.load_topology(A100), fc.Demand("gather", root="b0/gpu0")),
    "bound of a broadcast": lambda: fc.solver.broadcast_bound(MI250, 0),
    "bound of a reduce": lambda: fc.solver.reduce_bound(MI250, 0),
    "lengths that prove a bound": lambda: [
        _judged(fc.schedule.proof.TreeLengthsProof),
        _judged(fc.schedule.proof.TreeDistancesProof),
    ],
    "trees": lambda: fc.generate(A100),
    "trees of an allreduce": lambda: fc.generate("ring:nodes=4", "allreduce"),
    "trees by another method": lambda: fc.generate(MI250, method="proven"),
    "compact trees": lambda: fc.generate("torus:dims=3x3", method="trees:compact=true"),
    "expanded trees": lambda: fc.schedule.expanded(fc.generate("torus:dims=3x3", method="trees:compact=true")),
    "images of trees": lambda: list(
        fc.schedule.tree_images(fc.generate("torus:dims=2x3", method="trees:compact=true"), 0)
    ),
    "traffic": lambda: fc.schedule.traffic_of(fc.generate(A100)),
    "flows": lambda: fc.generate("torus:dims=3x3", "gather:root=0"),
    "bundle": lambda: fc.generate(A100, fc.Groups("0-7;8-15", "allgather", sizes="1,1/2")),
    "bundle for an optimum": lambda: fc.generate(A100, fc.Groups("0,8;1,9")),
    "steps": lambda: fc.generate("circulant:nodes=12,offsets=2+3", "allreduce", "bfb"),
    "expanded steps": lambda: fc.schedule.expanded_steps(fc.generate("torus:dims=2x3", method="bfb:compact=true")),
    "shapes": lambda: [fc.schedule.shape_of(each) for each in _schedules()],
    "reports": lambda: [fc.verify(each) for each in _schedules()],
    "report of trees": lambda: fc.verify(fc.generate(A100)),
    "report of steps": lambda: fc.verify(fc.generate("ring:nodes=4", method="bfb")),
    "report of flows": lambda: fc.verify(fc.generate("ring:nodes=4", "all-to-all")),
    "times": lambda: [fc.simulate(each, [2**10, 2**20, 2**30]) for each in _schedules()],
    "times with costs": lambda: fc.simulate(fc.generate(A100), [2**20], fc.simulation.read_costs("costs.json")),
    "times of a program": lambda: fc.simulate(fc.generate("ring:nodes=3"), [2**20], fc.Costs(), "program"),
    "block rate": lambda: fc.simulation.block_rate(fc.generate(MI250, "allreduce"), 3),
    "pipeline overhead": lambda: [fc.simulation.pipeline_overhead(nodes) for nodes in range(2, 20)],
    "rules": lambda: [fc.verification.rules(each) for each in (*fc.Collective, "flows", "series", "bundle")],
    "comparison": lambda: fc.compare(A100, baselines=["nccl-ring", "two-level"], sizes=[2**20]),
    "records of a comparison": lambda: fc.compare(A100, baselines=["nccl-ring"], sizes=[2**20]).records(),
    "report of a comparison": lambda: fc.html_report(fc.compare("ring:nodes=4", baselines=["direct"])),
    "pictures side by side": lambda: fc.presentation.side_by_side_svg(*_pair(), names=("one", "other")),
    "picture": lambda: fc.view_of(fc.generate(A100)).svg(),
    "lowering": lambda: fc.programs.lower(fc.generate("ring:nodes=3")),
    "exports": lambda: [fc.export(fc.generate("ring:nodes=3", "allreduce"), each) for each in fc.programs.Target],
    "judgement": lambda: fc.programs.judge_file(_exported()),
    "tuning": lambda: fc.tune("ring:nodes=3", "allgather", (2**14, 2**20)),
    "fitted costs": lambda: fc.fit_costs(fc.measurement.read_times([LOG], [A100], algorithms=["nccl-ring"])),
    "measured times": lambda: fc.measurement.read_times(["times.csv"], ["ring:nodes=4"]),
    "explained log": lambda: fc.explain_log(A100, LOG),
    "failures": lambda: fc.failures(A100, "nics"),
    "changes": lambda: fc.what_if.changes_of(A100, without=["b0/gpu0--ib"]),
    "upgrades": lambda: fc.upgrades(A100),
    "additions": lambda: fc.additions("mesh:dims=4"),
    "failover": lambda: fc.what_if.write_failover("ring:nodes=3", "failover"),
    "found topologies": lambda: fc.find_topologies(12, 4),
    "expansion": lambda: fc.expand("ring:nodes=5", ["degree=2"]),
    "network of an expansion": lambda: fc.design.topology_of(fc.expand("ring:nodes=5", ["line-graph"])),
    "schedule of an expansion": lambda: fc.design.schedule_of(fc.expand("ring:nodes=5", ["degree=2"]), "allreduce"),
    "base network": lambda: fc.design.base_network("torus:dims=3x3"),
    "compared series": lambda: fc.oneport.compare_series(FIGURE_1, "s"),
    "series": lambda: fc.oneport.compare_series(FIGURE_1, "s").schedule(),
    "report of a series": lambda: fc.verify(fc.oneport.compare_series(FIGURE_1, "s").schedule()),
    "run of a series": lambda: fc.simulation.play_series(fc.oneport.compare_series(FIGURE_1, "s").schedule(), 1000),
    "packets": lambda: fc.oneport.pipelined_broadcast(FIGURE_1, "s", 10**6),
    "one message": lambda: fc.oneport.atomic_broadcast(FIGURE_1, "s", 10**6),
    "collectives": lambda: [(each, each.value, each.with_article) for each in fc.Collective],
    "methods": lambda: [spec.name for spec in methods.all()],
    "demand": fc.demand.NodeDemand,
    "request": lambda: fc.Demand("all-to-all", ranks="0-3"),
    "read schedule": lambda: fc.verification.read_verified(_written()),
    "wrong root": lambda: fc.optimum(A100, "broadcast:root=b9"),
    "wrong collective": lambda: fc.generate(A100, "allgathers"),
    "no one-port network": lambda: fc.bounds_of("tiers"),
}
"""Calls whose result is recorded. Of the same type, only the first few have all their texts."""


def _graph(name: str) -> Any:
    from networkx import cycle_graph, set_edge_attributes

    graph = cycle_graph(4)
    set_edge_attributes(graph, 25, name)
    return graph


def _judged(
    kind: type[fc.schedule.proof.TreeLengthsProof | fc.schedule.proof.TreeDistancesProof],
) -> tuple[Any, fc.Report, str]:
    """Return a proof of a kind that searches seldom find, and the verdict about a schedule with it."""
    schedule = fc.generate("ring:nodes=4", "allreduce")
    proof = kind.of(schedule.topology, (1,) * 8)
    if isinstance(proof, fc.schedule.proof.TreeDistancesProof):
        proof = replace(proof, cuts=(((0,), Fraction(1)), ((1,), Fraction(1)), ((3,), Fraction(1))))
    bound = fc.Bound(schedule.collective, proof.algbw(schedule.topology, schedule.demand), proof)
    with_it = replace(schedule, bound=bound)
    return bound, fc.verify(with_it), "".join(fc.schedule.schedule_text(with_it))


def _schedules() -> list[fc.Schedule]:
    return [
        fc.generate(A100),
        fc.generate(A100, "reduce:root=b0/gpu3"),
        fc.generate(MI250, "allreduce"),
        fc.generate("ring:nodes=4", "all-to-all"),
        fc.generate("torus:dims=3x3", "allreduce", "bfb"),
        fc.generate(A100, fc.Groups("0-7;8-15")),
        fc.oneport.compare_series(FIGURE_1, "s").schedule(),
    ]


def _pair() -> tuple[Any, Any]:
    found = fc.compare(A100, baselines=["nccl-ring"], sizes=[])
    return found.row("nccl-ring").schedule, found.row("forestcoll").schedule


def _exported() -> Path:
    path = Path("program.xml")
    fc.export(fc.generate("ring:nodes=4"), "msccl-xml", dialect="rccl").write(path)
    return path


def _written() -> Path:
    path = Path("written.json.gz")
    fc.write_schedule(fc.generate("ring:nodes=3"), path)
    return path


def value(name: str) -> Outputs:
    """Yield the texts of a value: `repr`, `str`, the HTML for notebooks and all public properties."""
    write_files(inputs())
    result = VALUES[name]()
    yield "repr", f"{result!r}\n"
    if str(result) != repr(result):
        yield "str", f"{result}\n"
    properties = "".join(_properties(result))
    if properties:
        yield "properties", properties
    html = getattr(result, "_repr_html_", None)
    if html is not None:
        yield "html", f"{html()}\n"


def _properties(result: object) -> Iterator[str]:
    """Yield a line for each public property of a value of this package."""
    kind = type(result)
    if not kind.__module__.startswith("forestcoll"):
        return
    for name in sorted(dir(kind)):
        if not name.startswith("_") and isinstance(getattr(kind, name), property | functools.cached_property):
            try:
                yield f"{name} = {getattr(result, name)!r}\n"
            except fc.ForestcollError as error:
                yield f"{name} raises {type(error).__name__}: {error}\n"


def public_names() -> Outputs:
    """Yield the list of public names."""
    yield "list", "\n".join(sorted(vars(fc)["__all__"])) + "\n"


def public_name(module: str, name: str) -> Outputs:
    """Yield the signature of a public name, and of all public methods if it is a class."""
    import importlib

    yield "signature", "\n".join(_described(name, getattr(importlib.import_module(module), name))) + "\n"


def _described(name: str, found: Any) -> Iterator[str]:
    if not inspect.isclass(found):
        yield f"{name}{_signature(found)}" if callable(found) else f"{name} = {found!r}"
        return
    yield f"class {name}({', '.join(base.__name__ for base in found.__bases__)}){_signature(found)}"
    if issubclass(found, enum.Enum):
        yield from (f"  {each.name} = {each.value!r}" for each in found)
    ours = [each for each in found.__mro__ if each.__module__.startswith("forestcoll")]
    for attribute in sorted({name for each in ours for name in vars(each) if not name.startswith("_")}):
        if issubclass(found, enum.Enum) and attribute in found.__members__:
            continue
        member = inspect.getattr_static(found, attribute)
        member = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property | functools.cached_property):
            getter = member.fget if isinstance(member, property) else member.func
            yield f"  property {attribute}{_signature(getter)}"
        else:
            yield (
                f"  {attribute}{_signature(member)}" if callable(member) else f"  {attribute}: {type(member).__name__}"
            )


def _signature(found: Any) -> str:
    try:
        return str(inspect.signature(found))
    except (TypeError, ValueError):
        return "(…)"


def drawn_network(seed: int) -> fc.Topology:
    """Return a random connected network of at most eight nodes: one-way or full duplex, with switches, odd numbers."""
    random = Random(seed)  # noqa: S311 (not for security: the same networks in each run)
    count, one_way = random.randint(2, 6), random.random() < 0.4
    builder = fc.TopologyBuilder(f"drawn {seed}", bandwidth_unit="GB/s")
    nodes = [builder.add_compute(number) for number in range(count)]
    nodes += [builder.add_switch(f"s{number}") for number in range(random.randint(0, 2))]
    most, parts = random.choice([(1, 1), (10, 1), (60, 12)])
    add = builder.add_link if one_way else builder.add_duplex

    def bandwidth() -> Fraction:
        return Fraction(random.randint(1, most), random.randint(1, parts))

    for place, node in enumerate(nodes):
        if one_way or place:
            add(nodes[place - 1], node, bandwidth())
    for _ in range(random.randint(0, 2 * len(nodes))):
        one, other = random.sample(nodes, 2)
        add(one, other, bandwidth())
    return builder.build()


def drawn(seed: int) -> Outputs:
    """Yield optima, schedules, verdicts, times and bounds of a random network."""
    network = drawn_network(seed)
    yield "bounds", f"{fc.bounds_of(network)!r}\n"
    for name in ("allgather", "allreduce", "broadcast"):
        root = network.nodes[network.compute[0]].id if name == "broadcast" else None
        best = fc.optimum(network, fc.Demand(name, root=root))
        schedule = fc.generate(network, fc.Demand(name, root=root))
        yield f"optimum of {name}", f"{best!r}\n"
        yield f"schedule of {name}", "".join(fc.schedule.schedule_text(schedule))
        yield f"report of {name}", f"{fc.verify(schedule)!r}\n{fc.simulate(schedule, [2**20])!r}\n"
