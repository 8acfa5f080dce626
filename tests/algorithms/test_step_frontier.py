"""Steps against bandwidth: each point is verified, no point is useless, and the end says why there are no more."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.frontier import step_frontier
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology
from forestcoll.verification import StepReport, verify
from networks import SMALL, examples, networks


@examples(15)
@given(
    networks(kinds=st.just(SMALL), most=4, switches=False),
    st.sampled_from(["allgather", "reduce-scatter", "allreduce", "all-to-all"]),
)
def test_each_point_is_reached_and_improves(topology: Topology, collective: str) -> None:
    found = step_frontier(topology, collective)
    for point in found.points:
        schedule = generate(topology, collective, point.method)
        report = verify(schedule)
        assert isinstance(schedule, StepSchedule)
        assert isinstance(report, StepReport)
        assert (schedule.steps, report.bandwidth_factor) == (point.steps, point.bandwidth_factor)
        assert found.least_factor <= point.least_factor <= point.bandwidth_factor
    factors = [point.bandwidth_factor for point in found.points]
    assert factors == sorted(set(factors), reverse=True)
    assert (found.stopped is None) == (factors[-1] == found.least_factor)


def test_the_stored_schedules_are_points() -> None:
    found = step_frontier("modified-de-bruijn")  # 16 nodes, too many for the program
    assert [(each.method, each.steps, each.bandwidth_factor) for each in found.points] == [
        ("bfb", 4, Fraction(11, 8)),
        ("best", 5, Fraction(15, 16)),
    ]
    assert found.stopped is None
    assert [each.is_exact for each in found.points] == [False, True]


@pytest.mark.parametrize(
    ("network", "demand", "message"),
    [
        ("ring:nodes=4", Demand("broadcast", root=0), "no frontier of steps for a broadcast; use allgather, reduce-"),
        ("ring:nodes=4", Demand("gather", root=0), "no frontier of steps for a gather; use allgather, reduce-"),
        ("ring:nodes=4", Demand("allgather", ranks=(0, 1)), "equal shards of all compute nodes; leave ranks out"),
        ("ring:nodes=4", Demand("allgather", shards={0: 1}), "equal shards of all compute nodes; leave shards out"),
        ("dgx-a100:boxes=1", Demand("allgather"), "is a switch; .* so ask for the optimum without a frontier"),
    ],
)
def test_a_refusal_names_what_the_frontier_takes(network: str, demand: Demand, message: str) -> None:
    with pytest.raises(InputError, match=message):
        step_frontier(network, demand)


def test_groups_are_refused() -> None:
    with pytest.raises(InputError, match="the frontier of steps is for one collective"):
        step_frontier("ring:nodes=4", Groups([(0, 1), (2, 3)], Collective.ALLGATHER))
