"""Shallow and central forests: right, not higher than allowed, and nearly optimal where two levels are.

Streams along them compute the right data, and a hop costs one overhead.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from forestcoll.algorithms.forests import schedule_of
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.shallow import central_forest, central_roots, shallow_forest
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.programs.interpreter import check
from forestcoll.programs.model import Program
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.tuning.streams import stream_program
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
    "spec", ["mi250:boxes=2,gpus=3", "dgx-a100:boxes=2,gpus=2", "ring:nodes=5", "dgx-h100:boxes=1,gpus=3"]
)
def test_shallow_forests_are_right(spec: str, trees: int, collective: str) -> None:
    schedule = made(spec, 1, trees, collective)
    assert verify(schedule).ok
    check_streams(schedule, trees)


def check_streams(schedule: TreeSchedule, trees: int) -> None:
    """Check that programs that send along `trees` trees of a root are right in place and out of place."""
    for pieces in (1, 3):
        program = streams(schedule, pieces)
        assert program.chunks % (trees * pieces) == 0
        assert check(replace(program, in_place=True, out_of_place=True)).fault is None


def streams(schedule: TreeSchedule, pieces: int = 1) -> Program:
    program = stream_program(schedule, pieces)
    assert program is not None
    return program


@pytest.mark.parametrize(("spec", "least"), [("mi250:boxes=1", 5), ("hypercube:dim=3", 3), ("dgx-a100:boxes=2", 1)])
def test_trees_are_not_higher_than_allowed(spec: str, least: int) -> None:
    heights = [height(made(spec, more)) for more in range(4)]
    assert heights[0] == least
    assert all(least <= found <= least + more for more, found in enumerate(heights))


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
    check_streams(schedule, len(first))


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


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_each_hop_costs_one_overhead(collective: str) -> None:
    """Four hops of 6 us around half of a ring, and a receipt, which may also add up; the other half has three hops."""
    schedule = made("ring:nodes=8", 0, collective=collective)
    seconds = run_in_time(streams(schedule), Paths.of(schedule), 8, Costs(alpha_us=5, overhead_us=1)).seconds
    assert seconds * 1e6 == pytest.approx(4 * 6 + 1, abs=0.01)


def test_long_paths_choose_first_so_that_the_channels_of_msccl_suffice() -> None:
    program = streams(made("mi250:boxes=1", 0, 2, "allreduce"))
    assert max(channel.number for channel in program.channels) == 31


def test_trees_of_different_shares_have_no_streams() -> None:
    schedule = generate("ring:nodes=4")
    (phase,) = schedule.phases
    shares = (Fraction(1, 16), Fraction(3, 16), *phase.shares[2:])
    assert stream_program(replace(schedule, phases=(replace(phase, shares=shares),)), 1) is None
