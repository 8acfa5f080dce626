"""Every schedule can be exported to each format. The export reads the file back and runs it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_every_schedule_lowers import HARD, schedule_of
from test_schedules_reach_the_optimum import SPECS

from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.programs.formats.exporting import DEFAULT_DIALECT, Export, Target, export_with, usual_options
from forestcoll.programs.lowering import Options, Placement
from forestcoll.programs.model import Protocol
from forestcoll.schedule.schedule import Schedule
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import SMALL, examples, networks

FEW = ("dgx-a100:boxes=2,gpus=4", "dgx-h100:boxes=2,gpus=4,nvls=true", "torus:dims=3x3")
SLOW = ("mi250:boxes=2", "gb200-nvl72:boxes=2,gpus=6", "trainium2-ultra:boxes=1")
LONG_PLANS = (
    "alibaba-hpn:boxes=2", "aws-p5:boxes=2", "cluster:box=dgx-a100,boxes=2", "dgx-a100:boxes=2,nics=true",
    "dgx-h100:boxes=2", "grand-teton:boxes=2", "hypercube:dim=4", "mi250:boxes=2,gpus=8", "superpod-b300:boxes=2",
    "superpod-h100:boxes=2", "tpu-v5p:dims=4x2x2", "trainium2:boxes=1",
)  # fmt: skip
"""Builders whose plans of an allreduce take some seconds each; only `make test-all` makes them."""
FORMATS = tuple(each for each in Target if each is not Target.ASTRA_SIM)
"""The formats that take every collective and every network; ASTRA-sim does not, and has tests of its own."""
PLANS = (
    Options(placement=Placement.OUT_OF_PLACE, pieces=2),
    Options(placement=Placement.IN_PLACE),
    Options(placement=Placement.OUT_OF_PLACE, protocol=Protocol.LL),
)


def exported(
    spec: str,
    collective: Collective,
    target: Target,
    dialect: str = DEFAULT_DIALECT,
    options: Options | None = None,
) -> Export:
    """Export with the usual options, or with `options`; tests of `exporting` are about those that the search finds."""
    return exported_plainly(schedule_of(build_topology(spec), collective), target, dialect, options)


def exported_plainly(
    schedule: Schedule, target: Target, dialect: str = DEFAULT_DIALECT, options: Options | None = None
) -> Export:
    return export_with(options or usual_options(schedule, target, dialect), schedule, target, dialect=dialect)


def is_slow(spec: str, target: Target) -> bool:
    return target is Target.MSCCLPP_JSON and spec in LONG_PLANS


@pytest.mark.parametrize(
    ("spec", "target"),
    [
        pytest.param(spec, target, marks=[pytest.mark.slow] * is_slow(spec, target))
        for spec in SPECS
        if spec not in SLOW
        for target in (Target.MSCCL_XML, Target.MSCCLPP_JSON)
    ],
)
def test_an_allreduce_on_every_builder(spec: str, target: Target) -> None:
    lowering = exported(spec, Collective.ALLREDUCE, target).lowering
    assert lowering.loss == 0 or spec in HARD


@pytest.mark.slow
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", SPECS)
def test_all_collectives_on_every_builder(spec: str, collective: Collective, target: Target) -> None:
    assert exported(spec, collective, target).target is target


@pytest.mark.parametrize("dialect", ["microsoft", "azure", "rccl"])
@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", FEW)
def test_every_dialect(spec: str, collective: Collective, dialect: str) -> None:
    assert exported(spec, collective, Target.MSCCL_XML, dialect=dialect).lowering.loss == 0


@pytest.mark.parametrize("options", PLANS)
@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", FEW)
def test_every_kind_of_plan(spec: str, collective: Collective, options: Options) -> None:
    if options.protocol is Protocol.LL and collective in {Collective.REDUCE, Collective.REDUCE_SCATTER}:
        with pytest.raises(NoSolutionError, match="packets"):
            exported(spec, collective, Target.MSCCLPP_JSON, options=options)
        return
    assert exported(spec, collective, Target.MSCCLPP_JSON, options=options).lowering.loss == 0


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", FEW)
def test_traces(spec: str, collective: Collective) -> None:
    done = exported(spec, collective, Target.CHAKRA)
    assert len(done.traces) == len(done.lowering.program.ranks)


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", FEW)
def test_goal_schedules(spec: str, collective: Collective) -> None:
    options = Options(placement=Placement.OUT_OF_PLACE)
    assert exported(spec, collective, Target.GOAL, options=options).text.startswith("// forestcoll ")


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("spec", [*FEW, "kautz:degree=2,length=2"])
def test_an_all_to_all(spec: str, target: Target) -> None:
    lowering = exported_plainly(generate_flows(spec), target).lowering
    assert lowering.loss <= Fraction(1, 20)


@examples(20)
@given(networks(kinds=st.just(SMALL)), st.sampled_from(FORMATS))
def test_an_all_to_all_on_random_networks(topology: Topology, target: Target) -> None:
    assert exported_plainly(generate_flows(topology), target).target is target


@examples(40)
@given(
    networks(kinds=st.just(SMALL)),
    st.sampled_from(SCHEDULED),
    st.sampled_from(FORMATS),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_random_networks(
    topology: Topology, collective: Collective, target: Target, pieces: int, instances: int
) -> None:
    options = Options(placement=Placement.OUT_OF_PLACE, pieces=pieces, instances=instances)
    assert exported_plainly(schedule_of(topology, collective), target, options=options).target is target


@pytest.mark.slow
def test_a_hundred_and_twenty_eight_gpus() -> None:
    for target in (Target.MSCCL_XML, Target.MSCCLPP_JSON):
        assert exported("dgx-a100:boxes=16", Collective.ALLGATHER, target).target is target
