"""Shallow and central forests: right, not higher than allowed, and nearly optimal where two levels are."""

from fractions import Fraction

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from forestcoll.algorithms.baseline import DoesNotApplyError, Problem
from forestcoll.algorithms.forests import schedule_of
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.shallow import central_forest, central_roots, shallow_forest
from forestcoll.verification import verify
from networks import examples, networks


def made(spec: str, more: int, trees: int = 1, collective: str = "allgather") -> TreeSchedule:
    problem = Problem(build_topology(spec), NodeDemand(Collective(collective)))
    return schedule_of(problem, lambda each: shallow_forest(each, more, trees))


def height(schedule: TreeSchedule) -> int:
    """Return the most sends from a root, in the last phase, whose trees broadcast."""
    highest = 0
    for tree in schedule.phases[-1]:
        depths = {tree.root: 0}
        for route in (schedule.routes[each] for each in tree.routes):
            depths[route[-1]] = depths[route[0]] + 1
        highest = max(highest, *depths.values())
    return highest


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("trees", [1, 2])
@pytest.mark.parametrize(
    "spec", ["mi250:boxes=2,gpus=4", "dgx-a100:boxes=2,gpus=2", "ring:nodes=5", "dgx-h100:boxes=1,gpus=3"]
)
def test_shallow_forests_are_right(spec: str, trees: int, collective: str) -> None:
    assert verify(made(spec, 1, trees, collective)).ok


@pytest.mark.parametrize("more", range(4))
@pytest.mark.parametrize(("spec", "least"), [("mi250:boxes=1", 5), ("hypercube:dim=3", 3), ("dgx-a100:boxes=2", 1)])
def test_trees_are_not_higher_than_allowed(spec: str, least: int, more: int) -> None:
    assert least <= height(made(spec, more)) <= least + more


def test_without_more_sends_each_rank_of_a_switch_sends_directly() -> None:
    assert height(made("dgx-a100:boxes=2,gpus=2", 0)) == 1


def test_two_levels_of_boxes_are_found() -> None:
    assert made("dgx-a100:boxes=2", 1).algbw > Fraction(98, 100) * optimum("dgx-a100:boxes=2").algbw


def test_more_sends_are_faster_for_large_data() -> None:
    found = [made("mi250:boxes=1", more, 2).algbw for more in (0, 2)]
    assert found[0] < found[1] > Fraction(93, 100) * optimum("mi250:boxes=1").algbw


def test_the_search_has_the_same_result_each_time() -> None:
    assert made("mi250:boxes=1,gpus=8", 1) == made("mi250:boxes=1,gpus=8", 1)


def test_large_networks_are_left_out() -> None:
    with pytest.raises(DoesNotApplyError, match="more than 64 compute nodes"):
        made("ring:nodes=65", 0)


def test_members_that_only_other_nodes_join_are_named_as_the_reason() -> None:
    problem = Problem(build_topology("ring:nodes=4"), NodeDemand(Collective.ALLGATHER, ranks=(0, 2)))
    with pytest.raises(DoesNotApplyError, match="does not reach all others"):
        shallow_forest(problem, 0, 1)


def central(network: str | Topology, more: int = 0, times: int = 1) -> TreeSchedule:
    topology = build_topology(network) if isinstance(network, str) else network
    problem = Problem(topology, NodeDemand(Collective.ALLREDUCE))
    centre = central_roots(problem, more, times)
    return schedule_of(problem, lambda each: central_forest(each, centre))


@pytest.mark.parametrize(
    ("spec", "more", "times", "expected"),
    [
        ("mesh:dims=3x3", 0, 1, (1, 1, 2)),
        ("mesh:dims=3x3", 0, 2, (1, 2, 2)),
        ("mesh:dims=3x3", 1, 1, (5, 8, 3)),
        ("mi250:boxes=1", 0, 1, (4, 4, 3)),
        ("mi250:boxes=1", 1, 2, (12, 32, 4)),
    ],
)
def test_roots_of_central_forests_are_near_to_all_nodes(
    spec: str, more: int, times: int, expected: tuple[int, int, int]
) -> None:
    """The expected values are the numbers of roots and of trees, and the height."""
    schedule = central(spec, more, times)
    first, second = (sorted(phase.roots) for phase in schedule.phases)
    assert verify(schedule).ok
    assert first == second
    assert (len(set(first)), len(first), height(schedule)) == expected


@given(network=networks(most=7), more=st.integers(0, 1), times=st.integers(1, 2))
@examples(60)
def test_central_forests_are_right_on_any_network(network: Topology, more: int, times: int) -> None:
    try:
        schedule = central(network, more, times)
    except DoesNotApplyError:
        reject()
    assert verify(schedule).ok
    assert len(schedule.phases[0].roots).bit_count() == 1


@pytest.mark.parametrize(("spec", "more"), [("ring:nodes=6", 0), ("dgx-a100:boxes=2", 0), ("mesh:dims=3x3", 2)])
def test_if_all_nodes_would_be_roots_forests_are_shallow_ones(spec: str, more: int) -> None:
    with pytest.raises(DoesNotApplyError, match="all compute nodes would be roots"):
        central(spec, more)
