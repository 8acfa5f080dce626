"""Schedules of flows: every schedule is right, reaches the optimum, and its symmetry stands for all flows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_demands import demands
from flow_oracles import is_right
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.schedule.flows.value import Flow, FlowSchedule
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.generation.flows import flows_for
from forestcoll.topology import Symmetry, Topology
from forestcoll.verification import verify
from networks import examples, networks


@examples(60)
@given(st.data(), networks(most=7))
def test_every_schedule_is_right_and_reaches_the_optimum(data: st.DataObject, topology: Topology) -> None:
    best = flow_search(topology, data.draw(demands(topology)))
    schedule = flows_for(best)
    report = verify(schedule)
    assert report.fault is None
    assert (report.algbw, report.optimal) == (best.algbw, best.is_optimal)
    assert is_right(schedule)


def expanded(schedule: FlowSchedule) -> set[tuple[object, ...]]:
    """Return all flows of a schedule, each with its ends, its share and the nodes of its routes."""
    found: set[tuple[object, ...]] = set()
    symmetry = schedule.symmetry or Symmetry(())
    for element in symmetry.elements(len(schedule.topology.nodes)):
        image = element.tolist()
        for flow in schedule.flows:
            routes = tuple(tuple(image[node] for node in schedule.routes[each]) for each in flow.routes)
            found.add((image[flow.source], image[flow.target], flow.share, routes))
    return found


@pytest.mark.parametrize("spec", ["torus:dims=3x4", "mi250:boxes=2,gpus=8", "dgx-a100:boxes=2", "dgx-1:boxes=2"])
def test_base_flows_and_a_symmetry_are_all_flows(spec: str) -> None:
    base, listed = (
        generate(spec, "all-to-all", "flows:compact=true"),
        generate(spec, "all-to-all", "flows:compact=false"),
    )
    assert base.symmetry is not None
    assert listed.symmetry is None
    assert len(base.flows) * base.symmetry.order == len(listed.flows)
    assert expanded(base) == expanded(listed)
    for schedule in (base, listed):
        assert verify(schedule).optimal


def test_large_schedules_list_base_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert generate("ring:nodes=6", "all-to-all").symmetry is None
    monkeypatch.setattr("forestcoll.solver.generation.flows.MOST_LISTED", 10)
    assert generate("ring:nodes=6", "all-to-all").symmetry is not None


def test_a_path_through_compute_nodes_has_a_route_for_each_send() -> None:
    schedule = generate("ring:nodes=3,one_way=true", "scatter:root=0")
    assert list(schedule.routes) == [(0, 1), (1, 2)]
    assert list(schedule.flows)[1] == Flow(0, 2, schedule.flows.shares[0], (0, 1))


def test_flows_over_some_nodes_are_listed_even_if_the_rest_is_symmetric() -> None:
    best = optimum("dgx-a100:boxes=2", "all-to-all:ranks='0-3,8-11'")
    schedule = flows_for(best, compact=True)
    assert schedule.symmetry is None
    assert verify(schedule).optimal
