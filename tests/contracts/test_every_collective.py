"""Every collective on every builder and on random networks: schedules are correct and reach the optimum."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_schedules_reach_the_optimum import SPECS

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.demand.method import Method
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, arguments_for, examples, networks, one_way_networks, shards_for

OTHERS = [each for each in SCHEDULED if each is not Collective.ALLGATHER]


def check(topology: Topology, **options: Any) -> None:
    best = optimum(topology, **options)
    for method in Method:
        try:
            schedule = schedule_for(best, method=method)
        except NoSolutionError:
            assert method is Method.FAST
        else:
            check_schedule(best, schedule, is_default=method is Method.AUTO)


def check_schedule(best: Optimum, schedule: TreeSchedule, *, is_default: bool) -> None:
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw == schedule.algbw
    assert schedule.algbw <= best.bound.algbw
    if is_default or best.collective is not Collective.ALLREDUCE:
        assert schedule.algbw == best.algbw
    assert schedule.bound == best.bound
    assert report.optimal == (schedule.algbw == best.bound.algbw)
    assert schedule.trees_per_root == best.trees_per_root
    for phase, plan in zip(schedule.phases, best.forests, strict=True):
        assert phase.op is (PhaseOp.REDUCE if plan.reduces else PhaseOp.BROADCAST)
        check_roots(phase, plan)


def check_roots(phase: Phase, plan: ForestPlan) -> None:
    """Check that each root has its number of trees."""
    unit = Fraction(1, sum(plan.weights) * plan.trees_per_root)
    trees: Counter[int] = Counter()
    for tree in phase:
        assert (tree.share / unit).denominator == 1
        trees[tree.root] += int(tree.share / unit)
    expected = zip(plan.topology.compute, plan.weights, strict=True)
    assert trees == Counter({node: plan.trees_per_root * weight for node, weight in expected})


@pytest.mark.parametrize("collective", OTHERS)
@pytest.mark.parametrize("spec", SPECS)
def test_machines_and_families(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    check(topology, **arguments_for(topology, collective, place=1))


@pytest.mark.parametrize("collective", OTHERS)
@examples(120)
@given(networks(), st.integers(0, 7))
def test_random_networks(collective: Collective, topology: Topology, place: int) -> None:
    check(topology, **arguments_for(topology, collective, place))


@examples(200)
@given(networks(), st.data())
def test_shards_of_any_size(topology: Topology, data: st.DataObject) -> None:
    shards = data.draw(shards_for(topology))
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        check(topology, collective=collective, shards=shards)


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(60)
@given(networks(kinds=st.just(SMALL)), st.integers(0, 7), st.integers(1, 4), st.sampled_from(["trees", "max_trees"]))
def test_given_numbers_of_trees(
    collective: Collective, topology: Topology, place: int, trees: int, option: str
) -> None:
    options = arguments_for(topology, collective, place) | {option: trees}
    try:
        optimum(topology, **options)
    except NoSolutionError:
        return
    check(topology, **options)


@examples(80)
@given(networks(kinds=st.just(SMALL)), st.data(), st.integers(1, 4))
def test_given_numbers_of_trees_for_shards_of_any_size(topology: Topology, data: st.DataObject, trees: int) -> None:
    options: dict[str, Any] = {"shards": data.draw(shards_for(topology)), "trees": trees}
    try:
        optimum(topology, **options)
    except NoSolutionError:
        return
    check(topology, **options)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=7))
def test_an_allreduce_on_a_tree_reaches_the_least_bandwidth(edges: list[tuple[int, int]]) -> None:
    """Each link separates the nodes. One phase sends the shards of one side over it, the other phase the rest."""
    builder = TopologyBuilder("tree")
    builder.add_compute(0)
    for node, (parent, bandwidth) in enumerate(edges, start=1):
        builder.add_duplex(builder.add_compute(node), parent % node, bandwidth)
    schedule = generate(builder.build(), "allreduce")
    assert schedule.bound is not None
    assert schedule.algbw == schedule.bound.algbw == min(bandwidth for _, bandwidth in edges)
    assert verify(schedule).optimal


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=3", "torus:dims=3x4x2", "circulant:nodes=9,offsets=1+3,one_way=true"])
def test_base_trees(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    schedule = generate(topology, **arguments_for(topology, collective), compact=True)
    assert (schedule.symmetry is None) == collective.has_root
    report = verify(schedule)
    assert report.ok
    assert verify(expanded(schedule)) == report


@examples(60)
@given(one_way_networks(), st.data())
def test_a_schedule_file_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, topology: Topology, data: Any
) -> None:
    path = Path(tmp_path_factory.getbasetemp()) / "schedule.json"
    collective = data.draw(st.sampled_from(SCHEDULED))
    options = arguments_for(topology, collective)
    if collective.has_shards:
        options["shards"] = data.draw(shards_for(topology))
    schedule = generate(topology, **options)
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule


@pytest.mark.slow
@pytest.mark.parametrize("collective", OTHERS)
@examples(3000)
@given(networks(most=9), st.integers(0, 8))
def test_thousands_of_networks(collective: Collective, topology: Topology, place: int) -> None:
    check(topology, **arguments_for(topology, collective, place))
