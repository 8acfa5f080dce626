"""Collectives over some of the compute nodes, on every builder and on random networks: schedules are correct."""

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_every_collective import check_roots
from test_every_mutation_is_refused import MUTATIONS, Mutation
from test_schedules_reach_the_optimum import SPECS

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.method import Method
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import optimum, optimum_without_relays
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, networks, ranks_for, uneven_networks

GROUPED = [spec for spec in SPECS if len(build_topology(spec).compute) > 3 and "nics" not in spec]

LONG = {
    (spec, Collective.ALLREDUCE)
    for spec in (
        "alibaba-hpn:boxes=2",
        "aws-p5:boxes=2",
        "dgx-2:boxes=1",
        "dgx-h100:boxes=2",
        "fat-tree:levels=2,arity=4,oversubscription=7/3",
        "grand-teton:boxes=2",
        "hypercube:dim=4",
        "mi300x:boxes=2",
        "superpod-b300:boxes=2",
        "superpod-h100:boxes=2",
        "tpu-v5p:dims=4x2x2",
        "trainium2-ultra:boxes=1",
        "trainium2:boxes=1",
    )
}
"""The cases that take many seconds."""

CASES = [pytest.param(*case, marks=[pytest.mark.slow] if case in LONG else []) for case in product(GROUPED, SCHEDULED)]


def every_third_idle(topology: Topology) -> list[int]:
    return [rank for rank in range(len(topology.compute)) if rank % 3 != 1]


def arguments_for(topology: Topology, collective: Collective, ranks: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"collective": collective, "ranks": ranks}
    if collective.has_root:
        options["root"] = topology.nodes[topology.compute[ranks[-1]]].id
    return options


def check(topology: Topology, **options: Any) -> None:
    check_schedules(optimum(topology, **options))


def check_schedules(best: Optimum) -> None:
    for method in Method:
        try:
            schedule = schedule_for(best, method=method)
        except NoSolutionError:
            assert method is Method.FAST
            continue
        report = verify(schedule)
        assert report.fault is None
        assert report.algbw == schedule.algbw
        assert schedule.algbw <= best.bound.algbw
        assert method is not Method.AUTO or schedule.algbw == best.algbw
        assert schedule.ranks == best.ranks
        if best.packing is not None:
            continue  # packed trees may have their roots on relays, and any weights
        assert {root for phase in schedule.phases for root in phase.roots} <= set(best.members)
        for phase, part in zip(schedule.phases, best.forests, strict=True):
            check_roots(phase, part)


@pytest.mark.parametrize(("spec", "collective"), CASES)
def test_machines_and_families(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    options = arguments_for(topology, collective, every_third_idle(topology))
    best = optimum(topology, **options)
    if collective is not Collective.ALLREDUCE:
        assert best.algbw == best.bound.algbw
    bare = optimum_without_relays(best)
    assert bare is None or bare.algbw <= best.algbw
    check_schedules(best)


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(30)
@given(networks(most=7), st.data())
def test_random_networks(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    check(topology, **arguments_for(topology, collective, data.draw(ranks_for(topology))))


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(25)
@given(uneven_networks(most=6, kinds=st.just(SMALL)), st.data())
def test_networks_with_unbalanced_switches(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    check(topology, **arguments_for(topology, collective, data.draw(ranks_for(topology))))


@examples(25)
@given(networks(most=6, kinds=st.just(SMALL)), st.data(), st.integers(1, 3))
def test_shards_roots_and_numbers_of_trees(topology: Topology, data: st.DataObject, trees: int) -> None:
    ranks = data.draw(ranks_for(topology))
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(ranks), max_size=len(ranks)))
    shards = {topology.compute[rank]: Fraction(count, sum(counts)) for rank, count in zip(ranks, counts, strict=True)}
    for options in ({"shards": shards}, {"shards": shards, "collective": "reduce-scatter"}, {"trees": trees}):
        try:
            optimum(topology, ranks=ranks, **options)
        except NoSolutionError:
            continue
        check(topology, ranks=ranks, **options)


@examples(25)
@given(networks(most=7), st.data(), st.sampled_from(SCHEDULED))
def test_a_schedule_file_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, topology: Topology, data: st.DataObject, collective: Collective
) -> None:
    path = Path(tmp_path_factory.getbasetemp()) / "group.json"
    schedule = generate(topology, **arguments_for(topology, collective, data.draw(ranks_for(topology))))
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule


def small_groups() -> list[TreeSchedule]:
    """Return schedules on a ring, a torus, and two boxes, with idle nodes."""
    specs = {"ring:nodes=6": "0,2,3", "torus:dims=3x3": "0,4,5", "dgx-a100:boxes=2,gpus=3": "0,1,4,5"}
    return [
        generate(build_topology(spec), **arguments_for(build_topology(spec), collective, ranks_of_text(ranks)))
        for spec, ranks in specs.items()
        for collective in SCHEDULED
    ]


def ranks_of_text(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_every_mutation_is_refused(mutate: Mutation) -> None:
    for schedule in small_groups():
        for broken in mutate(schedule):
            assert not verify(broken).ok


@pytest.mark.parametrize("spec", ["torus:dims=4x4", "mi250:boxes=2"])
def test_no_route_passes_through_a_compute_node_and_relays_are_used(spec: str) -> None:
    topology = build_topology(spec)
    schedule = generate(topology, ranks=every_third_idle(topology))
    compute, ends = set(topology.compute), set()
    for route in schedule.routes:
        assert not compute.intersection(route[1:-1])
        ends |= {route[0], route[-1]}
    assert ends - set(schedule.members)


def test_copies_at_relays_reduce_the_traffic() -> None:
    """A broadcast from one end of a star to two others crosses the link to the idle hub once, not twice."""
    builder = TopologyBuilder("star")
    builder.add_compute("hub")
    for node in "abc":
        builder.add_compute(node)
        builder.add_duplex("hub", node, 1)
    schedule = generate(builder.build(), "broadcast", root="a", ranks=[1, 2, 3])
    assert verify(schedule).optimal
    assert traffic_of(schedule).wire == 3


@pytest.mark.parametrize("collective", [Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])
@pytest.mark.parametrize(("spec", "ranks"), [("dgx-a100:boxes=4", "0-3,8-11,16-19,24-27"), ("torus:dims=4x4", "0-7")])
def test_base_trees(spec: str, ranks: str, collective: Collective) -> None:
    topology = build_topology(spec)
    schedule = generate(topology, collective, ranks=ranks, compact=True)
    report = verify(schedule)
    assert report.ok
    assert verify(expanded(schedule)) == report


def test_a_symmetry_of_the_ranks_is_used() -> None:
    schedule = generate(build_topology("dgx-a100:boxes=4"), ranks="0-3,8-11,16-19,24-27", compact=True)
    assert schedule.symmetry is not None
    assert schedule.symmetry.order > 1


@pytest.mark.slow
@pytest.mark.parametrize("collective", SCHEDULED)
@examples(1000)
@given(st.one_of(networks(most=8), uneven_networks(most=7)), st.data())
def test_thousands_of_networks(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    check(topology, **arguments_for(topology, collective, data.draw(ranks_for(topology))))
