"""Every schedule is lowered to a correct program, in each style and for each placement of the buffers."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_schedules_reach_the_optimum import SPECS

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import SMALL, arguments_for, examples, networks, shards_for

HARD = {"dgx-a100:boxes=2,nvswitch_bandwidth=1000000000000,ib_bandwidth=1/7"}
"""Builders on which shares are too fine to be whole numbers of chunks."""


LARGE = "trainium2-ultra:boxes=1"
"""A torus of 64 nodes; its lowering takes half a minute for all collectives."""

ONE_SIDED = (Collective.ALLREDUCE, Collective.BROADCAST)
"""The collectives that are also lowered one-sided here. Together they use all features of one-sided lowering."""

STYLES = [*((each, Style.TWO_SIDED) for each in SCHEDULED), *((each, Style.ONE_SIDED) for each in ONE_SIDED)]


def is_slow(spec: str, collective: Collective) -> bool:
    """Whether only `make test-all` lowers it: an allreduce takes longest, and is exported two-sided by other tests."""
    return spec == LARGE or collective is Collective.ALLREDUCE


def schedule_of(topology: Topology, collective: Collective, place: int = 1, **options: Any) -> TreeSchedule:
    return generate(topology, **arguments_for(topology, collective, place), **options)


def check_lowering(schedule: TreeSchedule, **options: Any) -> None:
    lowering = lower(schedule, Options(**options))
    verdict = check(lowering.program)
    assert verdict.ok, verdict.fault
    assert lowering.algbw == schedule.algbw * (1 - lowering.loss)


@pytest.mark.parametrize(
    ("spec", "collective", "style"),
    [
        pytest.param(spec, *each, marks=pytest.mark.slow if is_slow(spec, each[0]) else [])
        for spec in SPECS
        for each in STYLES
    ],
)
def test_machines_and_families(spec: str, collective: Collective, style: Style) -> None:
    schedule = schedule_of(build_topology(spec), collective)
    lowering = lower(schedule, Options(style=style))
    verdict = check(lowering.program)
    assert verdict.ok, verdict.fault
    assert (lowering.loss == 0 and lowering.algbw == schedule.algbw) or spec in HARD


@examples(60)
@given(
    networks(kinds=st.just(SMALL)),
    st.sampled_from(SCHEDULED),
    st.integers(0, 7),
    st.fixed_dictionaries(
        {
            "style": st.sampled_from(Style),
            "placement": st.sampled_from(Placement),
            "pieces": st.integers(1, 3),
            "instances": st.integers(1, 2),
            "channels": st.sampled_from([None, 1, 2]),
        }
    ),
)
def test_random_networks(topology: Topology, collective: Collective, place: int, options: dict[str, Any]) -> None:
    check_lowering(schedule_of(topology, collective, place), **options)


@examples(40)
@given(
    st.data(),
    networks(kinds=st.just(SMALL)),
    st.sampled_from([Collective.ALLGATHER, Collective.REDUCE_SCATTER]),
    st.sampled_from(Style),
)
def test_shards_of_any_size(data: st.DataObject, topology: Topology, collective: Collective, style: Style) -> None:
    shards = data.draw(shards_for(topology))
    schedule = generate(topology, collective=collective, shards=shards)
    lowering = lower(schedule, Options(style=style))
    assert check(lowering.program).ok
    chunks = lowering.program.chunks
    assert [Fraction(each, chunks) for each in lowering.program.shards] == [shards[node] for node in topology.compute]
