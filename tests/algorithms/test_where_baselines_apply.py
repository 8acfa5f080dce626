"""Networks with broken or unequal parts, random networks, and the reasons why an algorithm does not apply."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import algbw_of, all_collectives, made, refusal

from forestcoll import Collective, Topology, TopologyBuilder, generate, load_topology, optimum
from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.blink import fastest_root
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.demand import Demand
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification import verify
from networks import duplex_networks, examples, one_way_networks, rails

LINEAR_PROGRAMS = {"single-root", "blink", "blink-switch", "milp", "taccl", "te-ccl"}


def with_nics(*boxes: tuple[int, ...], gpus: int = 4) -> Topology:
    """Boxes of GPUs on a switch; for each box, the bandwidth of the NIC of each GPU, 0 for none."""
    builder = TopologyBuilder("unequal")
    fabric = builder.add_switch("fabric")
    for number, nics in enumerate(boxes):
        switch = builder.add_switch(f"b{number}/switch", box=number)
        for gpu in range(gpus):
            node = builder.add_compute(f"b{number}/gpu{gpu}", box=number)
            builder.add_duplex(node, switch, 100)
            if nics[gpu]:
                builder.add_duplex(node, fabric, nics[gpu])
    return builder.build()


def without_links_to_fabric(name: str, *ends: str) -> Topology:
    """Return a machine without the links between `ends` and the fabric: failed NICs."""
    whole = load_topology(name)
    dead = [{whole.number(end), whole.number("ib")} for end in ends]
    builder = TopologyBuilder("failed NICs")
    for node in whole.nodes:
        if node.is_compute:
            builder.add_compute(node.id, box=node.attributes["box"])
        else:
            attributes: dict[str, Any] = dict(node.attributes)
            builder.add_switch(node.id, **attributes)
    for link in whole.links:
        if {link.source, link.target} not in dead:
            builder.add_link(whole.nodes[link.source].id, whole.nodes[link.target].id, link.bandwidth)
    return builder.build()


def test_with_a_dead_nic_seven_rings_are_left_and_two_levels_tie_with_the_optimum() -> None:
    network = without_links_to_fabric("dgx-a100:boxes=2", "b0/gpu0")
    assert optimum(network).algbw == 320
    assert algbw_of("nccl-ring", network) == Fraction(560, 3)
    assert algbw_of("two-level", network) == 320
    assert algbw_of("nccl-tree", network, "allreduce") <= optimum(network, "allreduce").bound.algbw


@pytest.mark.parametrize(("ends", "crossing"), [((), "1/400"), (("b0/gpu0",), "1/350"), (("b1/gpu5",), "1/350")])
def test_the_first_of_two_levels_with_a_barrier_uses_all_nics_equally(ends: tuple[str, ...], crossing: str) -> None:
    schedule = made("two-level-barrier", problem_of(without_links_to_fabric("dgx-a100:boxes=2", *ends)))
    assert isinstance(schedule, StepSchedule)
    assert step_shape(schedule).step_times[0] == Fraction(crossing)


@pytest.mark.parametrize(
    ("name", "ends", "rings", "two_levels"),
    [
        ("dgx-a100:boxes=2", ("b0/gpu0", "b1/gpu5"), "560/3", "320"),
        ("dgx-a100:boxes=4", ("b0/gpu0",), "5600/31", "700/3"),
        ("dgx-a100:boxes=2,pcie=true", ("b0/nic0",), "560/3", "320"),
        ("mi300x:boxes=2", ("b0/gpu0",), "1120/3", "7168/15"),
        ("dgx-1:boxes=2", ("b0/pcie0",), "40", "75"),
    ],
)
def test_dead_nics(name: str, ends: tuple[str, ...], rings: str, two_levels: str) -> None:
    network = without_links_to_fabric(name, *ends)
    assert algbw_of("nccl-ring", network) == Fraction(rings)
    assert algbw_of("two-level", network) == Fraction(two_levels)
    assert optimum(network).algbw >= Fraction(two_levels)


def test_rings_carry_parts_in_proportion_to_their_nics() -> None:
    assert algbw_of("nccl-ring", with_nics((10, 10, 20, 20), (10, 10, 20, 20))) == 60 * Fraction(8, 7)


def test_rings_of_boxes_with_different_nics_are_split() -> None:
    assert algbw_of("nccl-ring", with_nics((10, 10, 10, 10), (20, 20, 0, 0))) == 40 * Fraction(8, 7)


def test_a_ring_enters_and_leaves_by_its_own_nic() -> None:
    problem = problem_of("dgx-a100:boxes=2,pcie=true")
    topology, schedule = problem.topology, made("nccl-ring", problem_of("dgx-a100:boxes=2,pcie=true"))
    assert isinstance(schedule, TreeSchedule)
    nics = {node for route in schedule.routes for node in route if "nic" in str(topology.nodes[node].id)}
    assert len(nics) == 16


def test_rings_stay_on_their_rails() -> None:
    assert algbw_of("nccl-ring", rails()) == 40 * Fraction(8, 7)
    assert algbw_of("two-level", rails()) == 80


@given(topology=one_way_networks(most=6, unbalanced=False))
@examples(15)
def test_blink_starts_from_the_fastest_root(topology: Topology) -> None:
    chosen = fastest_root(problem_of(topology, "allreduce"))
    algbws = {
        root: optimum(topology, Demand("broadcast", root=topology.nodes[root].id)).algbw for root in topology.compute
    }
    assert algbws[chosen] == max(algbws.values())


@pytest.mark.parametrize(
    ("name", "topology", "collective", "reason"),
    [
        ("nccl-ring", "ring:nodes=4", "allgather", "attribute 'box'"),
        ("rccl-ring", "dgx-a100:boxes=2", "allgather", "MI250 and MI300X"),
        ("rccl-ring", "mi250:boxes=2,gpus=8", "allgather", "MI250 and MI300X"),
        ("nccl-tree", "dgx-a100:boxes=1", "allreduce", "one box"),
        ("nvls", "dgx-h100:boxes=1", "allreduce", "multicasts and aggregates"),
        ("nvls", "dgx-h100:boxes=2,nvls=true", "allreduce", "nvls-tree"),
        ("nvls-tree", "dgx-h100:boxes=1,nvls=true", "allreduce", "one box"),
        ("two-level", "mi250:boxes=1", "allgather", "one box"),
        ("direct", "ring:nodes=600", "allgather", "512"),
        ("direct", "ring:nodes=512", "allgather", "more than 4194304 links"),
        ("recursive-doubling", "dgx-a100:boxes=3", "allgather", "needs a power of two, and there are 24 compute nodes"),
        ("recursive-doubling-far", "ring:nodes=6", "allreduce", "needs a power of two, and there are 6 compute nodes"),
        ("swing", "ring:nodes=5", "reduce-scatter", "Swing needs an even number of compute nodes, and there are 5"),
        ("swing-torus", "dgx-a100:boxes=2", "allgather", "not a torus with nodes numbered row by row"),
        ("swing-torus", "torus:dims=3x4", "allgather", "Swing needs even dimensions, and the torus has 3x4 nodes"),
        ("bine", "ring:nodes=5", "allgather", "Bine needs an even number of compute nodes, and there are 5"),
        ("two-level-barrier", "ring:nodes=4", "allgather", "attribute 'box'"),
        ("two-level-barrier", "mi250:boxes=1", "allgather", "one box"),
        ("multitree", "ring:nodes=1025", "allgather", "1024"),
        ("blink", "dgx-a100:boxes=2", "allreduce", "without switches"),
        ("single-root", "dgx-a100:boxes=16", "allreduce", "linear program"),
        ("tacos", "ring:nodes=1025", "allgather", "1024"),
        ("milp", "ring:nodes=9", "allgather", "8"),
        ("taccl", "ring:nodes=65", "allgather", "64"),
        ("taccl", "mi250:boxes=3", "allgather", "at most 2100 binary columns"),
        ("te-ccl", "ring:nodes=33", "allgather", "32"),
        ("te-ccl", "mi250:boxes=2,gpus=16", "allgather", "80000"),
    ],
)
def test_the_reason_why_an_algorithm_does_not_apply(name: str, topology: str, collective: str, reason: str) -> None:
    message = refusal(name, topology, collective)
    assert reason in message
    assert "\n" not in message


def check(topology: Topology, collective: Collective) -> int:
    """Verify all algorithms that apply and compare them with the bound; return how many apply."""
    bound = optimum(topology, collective).bound.algbw
    problem = problem_of(topology, collective)
    applied = 0
    for baseline in baselines():
        if collective not in baseline.collectives or (baseline.name in LINEAR_PROGRAMS and len(topology.nodes) > 5):
            continue
        try:
            schedule = baseline.result(problem).schedule
        except DoesNotApplyError:
            continue
        report = verify(schedule)
        assert report.fault is None, (baseline.name, report.fault)
        assert report.algbw is not None
        assert schedule.algbw == report.algbw <= bound, baseline.name
        applied += 1
    return applied


@given(topology=st.one_of(duplex_networks(most=7), one_way_networks(most=6, unbalanced=False)), data=st.data())
@examples(40)
def test_all_schedules_on_random_networks_verify_and_keep_the_bound(topology: Topology, data: st.DataObject) -> None:
    check(topology, data.draw(st.sampled_from(all_collectives())))


@given(
    nics=st.lists(st.lists(st.sampled_from((0, 1, 2, 5)), min_size=3, max_size=3), min_size=1, max_size=3),
    data=st.data(),
)
@examples(30)
def test_all_schedules_on_random_boxes_verify_and_keep_the_bound(nics: list[list[int]], data: st.DataObject) -> None:
    whole = [tuple(each) if any(each) else (1, 1, 1) for each in nics]
    assert check(with_nics(*whole, gpus=3), data.draw(st.sampled_from(all_collectives()))) > 0


NOT_FOR_SIX = {"rccl-ring", "nvls", "nvls-tree", "blink", "recursive-doubling", "recursive-doubling-far", "swing-torus"}


@pytest.mark.parametrize("searches", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("collective", all_collectives())
def test_schedules_of_some_of_the_compute_nodes(collective: Collective, *, searches: bool) -> None:
    """Those of `milp`, `taccl` and `te-ccl` are found by a long search."""
    topology = load_topology("dgx-a100:boxes=2")
    ranks = tuple(topology.compute[place] for place in (0, 1, 2, 8, 9, 10))
    best = generate(topology, Demand(collective, ranks=topology.ids(ranks)))
    problem = Problem(topology, best.demand)
    bound = optimum(topology, Demand(collective, ranks=topology.ids(ranks))).bound
    for baseline in baselines():
        applies = collective in baseline.collectives and baseline.name not in NOT_FOR_SIX
        if applies and (baseline.most_by_default == 0) == searches:
            schedule = made(baseline.name, problem)
            assert schedule.algbw is not None
            assert schedule.ranks == ranks
            assert schedule.algbw <= bound.algbw
