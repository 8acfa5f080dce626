"""Every method on every builder's network: each schedule is made once, then verified and used in all ways.

`checked` is what a user may rely on: the schedule is right, reaches what it claims, is read back equal, is simulated no
faster than it claims, becomes a program that the interpreter proves, and is exported.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from forestcoll.algorithms.baseline import Baseline, baselines
from forestcoll.algorithms.generate import generate, optimum, problem_of
from forestcoll.algorithms.method import DoesNotApplyError, methods
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import SCHEDULED, UNROOTED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import LOWERERS, Options, Placement, Style, lower
from forestcoll.programs.model import Protocol
from forestcoll.programs.targets.msccl_xml import MscclXml
from forestcoll.programs.targets.mscclpp_json import MscclppJson
from forestcoll.programs.targets.target import Target, targets
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.simulate import simulate
from forestcoll.solver.bounds.table import bound_of, bounds
from forestcoll.solver.optimum import optimum_without_relays
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology, builders
from forestcoll.verification import verify
from networks import ALL_EXAMPLES, demand_for
from schedule_checks import check_forests, demand_over, every_third_idle

SPECS = [
    "alibaba-hpn:boxes=1",
    "alibaba-hpn:boxes=2",
    "alps:boxes=2",
    "aws-p4d:boxes=2",
    "aws-p5:boxes=2",
    "cayley:outer=5,inner=2,ratio=4,generators=1+2+3",
    "circulant:nodes=5,offsets=1+2",
    "circulant:nodes=7,offsets=1+2,one_way=true",
    "circulant:nodes=8,offsets=1+3+4,one_way=true,bandwidth=25/3",
    "cloudmatrix-384:boxes=2,gpus=3",
    "cluster:box=dgx-a100,boxes=2",
    "cluster:box=dgx-a100:gpus=4,boxes=4,rails=2,nics=4,boxes_per_leaf=2,oversubscription=2",
    "cluster:box=dgx-h100:gpus=2,boxes=4,boxes_per_leaf=2,sharp=true",
    "cluster:box=hgx-a100-4,boxes=4,boxes_per_leaf=1,pod_leaves=2,global_bandwidth=30",
    "cluster:box=mi250:gpus=8,boxes=2,nics=4,nic_bandwidth=25",
    "complete-bipartite:left=1,right=4",
    "complete-bipartite:left=3,right=4",
    "complete:nodes=2",
    "complete:nodes=6",
    "de-bruijn:degree=2,length=3",
    "dgx-1:boxes=1",
    "dgx-1:boxes=2",
    "dgx-1:boxes=3,gpus=3",
    "dgx-2:boxes=1",
    "dgx-2:boxes=2,gpus=5",
    "dgx-a100:boxes=1",
    "dgx-a100:boxes=2",
    "dgx-a100:boxes=2,gpus=3,pcie=true",
    "dgx-a100:boxes=2,nvswitch_bandwidth=1000000000000,nic_bandwidth=1/7",
    "dgx-a100:boxes=2,pcie=true",
    "dgx-a100:boxes=3,gpus=5",
    "dgx-a100:boxes=4,gpus=1",
    "dgx-b200:boxes=2",
    "dgx-b300:boxes=2,gpus=4",
    "dgx-h100:boxes=2",
    "dgx-h100:boxes=2,gpus=4,nvls=true",
    "dgx-h200:boxes=2,gpus=4",
    "dgx-spark:boxes=3",
    "diamond",
    "directed-circulant:degree=3",
    "distance-regular:nodes=10",
    "double-binary-tree:nodes=5",
    "dragonfly-plus:leaves=1,spines=2,nodes=2,global_links=1",
    "dragonfly:routers=2,nodes=1,global_links=1",
    "dragonfly:routers=2,nodes=1,global_links=2,groups=2,pair_links=2",
    "dragonfly:routers=3,nodes=2,global_links=1,global_bandwidth=5/2",
    "el-capitan:boxes=2",
    "fat-tree:levels=1,arity=4",
    "fat-tree:levels=2,arity=4,oversubscription=7/3",
    "fat-tree:levels=3,arity=2,oversubscription=2",
    "frontier:boxes=2,groups=2",
    "gaudi2:boxes=2,gpus=4",
    "gaudi3:boxes=1",
    "gb200-nvl72:boxes=1,gpus=8",
    "gb200-nvl72:boxes=2,gpus=6",
    "gb300-nvl72:boxes=2,gpus=4",
    "generalized-kautz:degree=3,nodes=7",
    "generalized-petersen:outer=5,step=2",
    "gh200-4:boxes=1",
    "grand-teton:boxes=2",
    "hamming:dim=2,base=3",
    "hgx-a100-4:boxes=2",
    "hgx-h20:boxes=2,gpus=4",
    "hypercube:dim=1",
    "hypercube:dim=4",
    "kautz:degree=2,length=2",
    "mesh:dims=2x3x2",
    "mesh:dims=5",
    "mi250:boxes=1",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus=8",
    "mi250x:boxes=1",
    "mi300a:boxes=2",
    "mi300x:boxes=1",
    "mi300x:boxes=2",
    "mi325x:boxes=1",
    "mi355x:boxes=1",
    "modified-de-bruijn:degree=2,length=3",
    "pcie-host:boxes=1",
    "pcie-host:boxes=2,gpus=3,switches=2,nics=2",
    "rail-only:boxes=3,gpus=4,scale_up_bandwidth=18,nic_bandwidth=1",
    "rail:boxes=2,gpus=4",
    "rail:boxes=3,gpus=2,oversubscription=3",
    "ring:nodes=2",
    "ring:nodes=4,one_way=true,parallel=2",
    "ring:nodes=6,one_way=true",
    "ring:nodes=9",
    "shifted-ring:nodes=7",
    "superpod-b300:boxes=2",
    "superpod-h100:boxes=2",
    "torus:dims=2x2x3",
    "torus:dims=3x4",
    "tpu-7x:dims=2x2x2",
    "tpu-v4:dims=2x2x2",
    "tpu-v5e:dims=2x4",
    "tpu-v5p:dims=4x2x2",
    "tpu-v6e:dims=2x16",
    "trainium1:boxes=1",
    "trainium2-ultra:boxes=1",
    "trainium2:boxes=1",
    "trainium3:boxes=2",
    "twisted-hypercube:dim=3",
    "twisted-torus:dims=3x4",
    "vera-rubin-nvl72:boxes=1,gpus=4",
]
SPECS += sorted(
    {builder.name for builder in builders() if builder.recipe.port_model is None}
    - {spec.partition(":")[0] for spec in SPECS}
)
"""The networks, chosen to be small and different, and every builder that is not among them as it is by default."""

HARD = {"dgx-a100:boxes=2,nvswitch_bandwidth=1000000000000,nic_bandwidth=1/7"}
"""Builders on which shares are too fine to be whole numbers of chunks."""

PERSONALISED = (Collective.ALL_TO_ALL, Collective.GATHER, Collective.SCATTER)
TARGETS: tuple[Target, ...] = tuple(spec.make() for spec in targets.all() if spec.name != "astra-sim")
"""The formats that take every collective and every network; ASTRA-sim does not, and has tests of its own."""

FEW = ("dgx-a100:boxes=2,gpus=4", "dgx-h100:boxes=2,gpus=4,nvls=true", "torus:dims=2x4", "dgx-1:boxes=1")
SEARCHES = {"milp", "taccl", "tacos", "te-ccl"}
"""Algorithms that search for seconds; they have tests of their own."""

PLANS = (
    Options(placement=Placement.OUT_OF_PLACE, pieces=2),
    Options(placement=Placement.IN_PLACE),
    Options(placement=Placement.OUT_OF_PLACE, protocol=Protocol.LL),
)

Make = Callable[[Topology, Collective], Schedule]


@dataclass(frozen=True)
class Way:
    """A way to make schedules.

    Attributes:
        make: makes one, or raises `DoesNotApplyError` where there is none to make.
        collectives: those that it makes.
        becomes_programs: how many of its schedules become programs in the fast tests: one of so many, 0 for none.
    """

    make: Make
    collectives: tuple[Collective, ...] = SCHEDULED
    becomes_programs: int = 0


def _trees(topology: Topology, collective: Collective) -> Schedule:
    best = optimum(topology, demand_for(topology, collective, place=1))
    return check_forests(best)


def _trees_of_some_ranks(topology: Topology, collective: Collective) -> Schedule:
    if (
        is_long(topology, collective)
        or len(topology.compute) < 4
        or any("nic" in str(node.id) for node in topology.nodes)
    ):
        raise DoesNotApplyError("it is too small, or takes long")
    best = optimum(topology, demand_over(topology, collective, every_third_idle(topology)))
    assert collective is Collective.ALLREDUCE or best.algbw == best.bound.algbw
    bare = optimum_without_relays(best)
    assert bare is None or bare.algbw <= best.algbw
    return check_forests(best)


def _few_trees(topology: Topology, collective: Collective) -> Schedule:
    made: Schedule | None = None
    for method in (Trees(k=1), Trees(k=2), Trees(k=3), Trees(most=4)):
        try:
            made = check_forests(optimum(topology, collective, method))
        except NoSolutionError:
            continue
    assert made is not None
    return made


def _base_trees(topology: Topology, collective: Collective) -> Schedule:
    schedule = generate(topology, demand_for(topology, collective), "trees:compact=true")
    assert verify(expanded(schedule)) == verify(schedule)
    made: Schedule = schedule
    return made


def _best_for_a_size(topology: Topology, collective: Collective) -> Schedule:
    if len(topology.compute) > 9 and ALL_EXAMPLES not in os.environ:
        raise DoesNotApplyError("it takes long")
    made: Schedule = generate(topology, demand_for(topology, collective), size=2**20)
    return made


def _shallow(topology: Topology, collective: Collective) -> Schedule:
    if is_long(topology, collective):
        raise DoesNotApplyError("it takes long")
    made: Schedule = generate(topology, collective, "central" if collective is Collective.ALLREDUCE else "shallow")
    return made


def _shorter(topology: Topology, collective: Collective) -> Schedule:
    plain, shorter = (generate(topology, collective, each) for each in ("trees", "trees:shorter=true"))
    assert plain.algbw == shorter.algbw
    assert tree_shape(plain).mean_height >= tree_shape(shorter).mean_height
    made: Schedule = shorter
    return made


def _flows(topology: Topology, collective: Collective) -> Schedule:
    made: Schedule = generate(topology, demand_for(topology, collective))
    return made


def _steps(topology: Topology, collective: Collective) -> Schedule:
    if topology.switches or topology.port_model is not None:
        raise DoesNotApplyError("has switches")
    schedule = generate(topology, collective, "bfb")
    report = verify(schedule)
    assert report.step_times == step_shape(schedule).step_times
    assert report.bandwidth_factor is not None
    assert report.least_factor is not None
    assert report.bandwidth_factor >= report.least_factor
    made: Schedule = schedule
    return made


def _groups(topology: Topology, collective: Collective) -> Schedule:
    half = len(topology.compute) // 2
    if half < 2:
        raise DoesNotApplyError("it is too small for two groups")
    return generate(topology, Groups([range(half), range(half, 2 * half)], collective))


WAYS: dict[str, Way] = {
    "trees": Way(_trees, becomes_programs=3),
    "trees of some ranks": Way(_trees_of_some_ranks),
    "few trees": Way(_few_trees, (Collective.ALLGATHER,)),
    "base trees": Way(_base_trees),
    "the best for a size": Way(_best_for_a_size, (Collective.ALLREDUCE, Collective.BROADCAST)),
    "shallow trees": Way(_shallow, UNROOTED),
    "shorter trees": Way(_shorter, (Collective.ALLGATHER,)),
    "flows": Way(_flows, PERSONALISED, becomes_programs=6),
    "steps": Way(_steps, UNROOTED, becomes_programs=3),
    "groups": Way(_groups, (Collective.ALLGATHER,)),
}
"""The ways to make schedules. Algorithms for comparison are in `baselines()`."""


def chosen(place: int, every: int) -> bool:
    """Whether the case with this number is among those of the fast tests: one of `every`, 0 for none."""
    return every > 0 and (place % every == 0 or ALL_EXAMPLES in os.environ)


def is_long(topology: Topology, collective: Collective) -> bool:
    """Whether only `make test-all` has a case, because it takes long: a large network, first for an allreduce."""
    most = 15 if collective is Collective.ALLREDUCE else 18
    return len(topology.compute) > most and ALL_EXAMPLES not in os.environ


def checked(schedule: Schedule, folder: Path, place: int, *, as_program: bool) -> None:
    """Check a schedule in all ways; `place` is the number of the case, by which a target and a style are chosen."""
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw is not None
    assert isinstance(schedule, StepSchedule) or report.algbw == schedule.algbw
    assert schedule.bound is None or report.algbw <= schedule.bound.algbw
    path = folder / "schedule.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    for point in simulate(schedule, [2**20, 2**30]):
        assert point.algbw <= float(report.algbw) * (1 + 1e-9)
    if as_program and type(schedule) in LOWERERS:
        check_programs(schedule, place)


def check_programs(schedule: Schedule, place: int) -> None:
    """Check the program of a schedule in one style, and export it to one target."""
    styles = sorted(Style)
    try:
        placement = MscclppJson().usual_options(schedule).placement
        lowering = lower(schedule, Options(style=styles[place % len(styles)], placement=placement))
    except InputError as refusal:
        assert re.search("passes through a compute node|flows, only an all-to-all|all-to-all in steps", str(refusal))  # noqa: PT017
        return
    verdict = check(lowering.program)
    assert verdict.ok, verdict.fault
    if isinstance(schedule, TreeSchedule) and schedule.topology.name not in HARD:
        assert lowering.loss == 0
        assert lowering.algbw == schedule.algbw
    target = TARGETS[place % len(TARGETS)]
    assert target.export(schedule, target.usual_options(schedule)).target is target


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", WAYS)
def test_every_way(name: str, spec: str, tmp_path: Path) -> None:
    way, topology, number = WAYS[name], build_topology(spec), SPECS.index(spec)
    for place, collective in enumerate(way.collectives, start=number):
        as_program = not is_long(topology, collective) and chosen(place, way.becomes_programs)
        try:
            schedule = way.make(topology, collective)
        except DoesNotApplyError:
            continue
        checked(schedule, tmp_path, number + place, as_program=as_program)


@pytest.mark.parametrize(
    "baseline", [each for each in baselines() if each.name not in SEARCHES], ids=lambda each: each.name
)
def test_every_algorithm(baseline: Baseline, tmp_path: Path) -> None:
    """The algorithms for comparison; those that apply to none of these networks have tests of their own."""
    for place, (spec, collective) in enumerate(product(FEW, baseline.collectives)):
        topology = build_topology(spec)
        problem = problem_of(topology, collective)
        try:
            schedule = baseline.result(problem).schedule
        except DoesNotApplyError:
            continue
        checked(schedule, tmp_path, place, as_program=chosen(place, 4))


@pytest.mark.parametrize("name", [spec.name for spec in methods.all() if "baseline" not in spec.facts])
def test_every_method_with_its_defaults(name: str, tmp_path: Path) -> None:
    """The methods with parameters; one that applies to none of these networks needs one here."""
    made = 0
    for spec in ("torus:dims=2x4", "hgx-a100-4:boxes=1", "ring:nodes=4", "mesh:dims=5"):
        topology = build_topology(spec)
        for collective in methods.named(name).make().collectives:
            try:
                schedule = generate(topology, demand_for(topology, collective), name)
            except InputError:  # the network is not one for it
                continue
            checked(schedule, tmp_path, made, as_program=True)
            made += 1
    assert made


@pytest.mark.parametrize("spec", FEW)
def test_every_dialect_and_placement(spec: str) -> None:
    """All programs of trees: dialects of MSCCL XML, and placements and protocols of plans of MSCCL++."""
    topology = build_topology(spec)
    for collective in SCHEDULED:
        schedule = generate(topology, demand_for(topology, collective, place=1))
        for dialect in ("microsoft", "azure", "rccl"):
            xml = MscclXml(dialect=dialect)
            assert xml.export(schedule, xml.usual_options(schedule)).lowering.loss == 0
        for options in PLANS:
            if options.protocol is Protocol.LL and collective in {Collective.REDUCE, Collective.REDUCE_SCATTER}:
                with pytest.raises(NoSolutionError, match="packets"):
                    MscclppJson().export(schedule, options)
            else:
                assert MscclppJson().export(schedule, options).lowering.loss == 0


@pytest.mark.parametrize("name", [each.name for each in builders() if each.recipe.port_model is None])
def test_every_bound_is_proven_and_reached(name: str) -> None:
    topology = build_topology(name)
    found = bounds(topology)
    assert {each.collective for each in found.collectives} == {*SCHEDULED, Collective.ALL_TO_ALL}
    assert found.too_large == {}
    assert found.collectives[0].upper_algbw == optimum(topology).algbw
    assert found.collectives[0].upper_algbw == found.collectives[1].upper_algbw  # all links are full duplex
    root = topology.nodes[topology.compute[-1]].id
    rooted = [bound_of(topology, Demand(each, root=root)) for each in (Collective.GATHER, Collective.SCATTER)]
    for each in (*found.collectives, *rooted):
        assert each.tight
        assert each.achieved_algbw is None or each.achieved_algbw <= each.upper_algbw
        proof = each.bound.proof
        assert proof.algbw(topology, each.demand()) == each.upper_algbw
        if isinstance(proof, TreeDualProof):  # also valid without its symmetry
            assert proof.expanded(topology).algbw(topology, each.demand()) == each.upper_algbw
    plan = found.allreduce_rate.plan
    assert plan is not None
    assert plan.fault(topology) is None
    assert plan.rate == found.allreduce_rate.tree_lower
    assert plan.rate <= found.allreduce_rate.cut_set_upper.algbw
