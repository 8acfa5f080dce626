"""The algorithms for an all-to-all: values by hand, random networks, boxes whose NICs are shared or missing."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import algbw_of, made

from forestcoll import Collective, Topology, compare, optimum
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.demand.demand import Demand
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.simulation.simulate import simulate
from forestcoll.verification import verify
from networks import duplex_networks, examples, networks, one_way_networks, rails

ALL_TO_ALL = Collective.ALL_TO_ALL


@pytest.mark.parametrize(
    ("name", "topology", "algbw"),
    [
        # 8 x 8 blocks of 1/16 M leave a box over 8 NICs of 25 GB/s: 1/2 M over each
        ("direct", "dgx-a100:boxes=2", "50"),
        ("two-level", "dgx-a100:boxes=2", "50"),
        # 4 steps, and in each a GPU sends 8 of 16 blocks over its NIC: 4 x 1/2 M over 25 GB/s
        ("bruck", "dgx-a100:boxes=2", "25/2"),
        # 3 steps, and in each a GPU sends 4 of 8 blocks at 300 GB/s
        ("bruck", "dgx-a100:boxes=1", "200"),
        # steps for the distances 1, 3, 5, then 2, 3, then 4, 5: 3, 2 and 2 blocks of 1/6 M over a link of 1 GB/s
        ("bruck", "complete:nodes=6", "6/7"),
        # 8 x 8 blocks of 1/16 M leave a box over 4 NICs of 25/2 GB/s: 1 M over each
        ("two-level", "dgx-1:boxes=2", "25/2"),
    ],
)
def test_values_by_hand(name: str, topology: str, algbw: str) -> None:
    problem = problem_of(topology, ALL_TO_ALL)
    schedule = made(name, problem)
    assert verify(schedule).fault is None
    assert schedule.algbw == Fraction(algbw)


RANDOM = st.one_of(networks(most=8), duplex_networks(most=8), one_way_networks(most=8))


@given(topology=RANDOM)
@examples(60)
def test_on_random_networks_they_verify_and_keep_the_bound(topology: Topology) -> None:
    bound = optimum(topology, "all-to-all").bound.algbw
    for name in ("direct", "bruck"):
        schedule = made(name, problem_of(topology, ALL_TO_ALL))
        report = verify(schedule)
        assert report.fault is None
        assert report.algbw is not None
        assert schedule.algbw == report.algbw
        assert report.algbw <= bound
        (point,) = simulate(schedule, [2**30])
        assert point.algbw <= float(report.algbw) * (1 + 1e-9)


@pytest.mark.parametrize("count", range(2, 18))
def test_brucks_steps_are_the_fewest_for_any_number_of_ranks(count: int) -> None:
    schedule = made("bruck", problem_of(f"complete:nodes={count}", ALL_TO_ALL))
    assert isinstance(schedule, StepSchedule)
    assert schedule.steps == (count - 1).bit_length()
    sent = sum(1 for distance in range(count) for _ in range(distance.bit_count()))
    assert step_shape(schedule).bandwidth_time <= Fraction(sent, count)
    assert len(schedule.phases[0].transfers) == count * sent


def test_blocks_cross_on_the_rail_of_their_target_so_planes_that_never_meet_are_no_obstacle() -> None:
    network = rails()
    schedule = made("two-level", problem_of(network, ALL_TO_ALL))
    assert verify(schedule).fault is None
    assert schedule.algbw == optimum(network, "all-to-all").algbw


def test_a_gpu_without_a_nic_uses_those_of_the_others() -> None:
    network = "cluster:box=dgx-a100:gpus=4,boxes=2,nics=2,nic_bandwidth=25"
    assert algbw_of("two-level", problem_of(network, ALL_TO_ALL).topology, ALL_TO_ALL) == 25


@pytest.mark.parametrize(
    ("name", "topology", "reason"),
    [
        ("two-level", "ring:nodes=4", "attribute 'box'"),
        ("two-level", "dgx-a100:boxes=1", "one box"),
        ("nccl-ring", "dgx-a100:boxes=2", "not an algorithm for an all-to-all"),
    ],
)
def test_they_do_not_apply_everywhere(name: str, topology: str, reason: str) -> None:
    with pytest.raises(DoesNotApplyError, match=reason):
        made(name, problem_of(topology, ALL_TO_ALL))


def test_compare_has_an_all_to_all() -> None:
    found = compare("dgx-1:boxes=2", "all-to-all", sizes=["1M"])
    assert [row.name for row in found.rows] == ["forestcoll", "two-level", "direct", "bruck"]
    assert [row.height for row in found.rows] == [2, 3, 1, 4]
    assert found.row("direct").reason.startswith("data enters each box 1.38 times: 11/2 M where 4 M would do")
    assert all(row.times[0].busbw == pytest.approx(row.times[0].algbw * 15 / 16) for row in found.rows)


def test_some_of_the_ranks() -> None:
    found = compare("dgx-a100:boxes=2", Demand("all-to-all", ranks="0-3,8-11"), sizes=["1M"])
    assert {row.name: row.algbw for row in found.rows}["two-level"] == 50
