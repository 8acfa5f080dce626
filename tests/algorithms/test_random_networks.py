"""Every method on random networks: schedules are right, reach their optima, are read back and become programs."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.programs.formats.exporting import Target, export_with, usual_options
from forestcoll.programs.interpreter import check as check_program
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import (
    SMALL,
    demand_for,
    duplex_networks,
    examples,
    networks,
    one_way_networks,
    ranks_for,
    shards_for,
    uneven_networks,
)  # fmt: skip
from oracles import best_allgather
from schedule_checks import check_forests, demand_over, every_third_idle

TARGETS = tuple(each for each in Target if each is not Target.ASTRA_SIM)


def check(topology: Topology, demand: Demand = Demand(), method: Trees = Trees()) -> None:  # noqa: B008 (frozen)
    """Check all methods; there may be no schedule of a given number of trees."""
    try:
        best = optimum(topology, demand, method)
    except NoSolutionError:
        assert method.k or method.most
    else:
        check_forests(best)


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(150)
@given(networks(), st.integers(0, 7))
def test_collectives(collective: Collective, topology: Topology, place: int) -> None:
    check(topology, demand_for(topology, collective, place))


@examples(200)
@given(networks(), st.data())
def test_shards_of_any_size(topology: Topology, data: st.DataObject) -> None:
    shards = data.draw(shards_for(topology))
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        check(topology, Demand(collective, shards=shards))


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(100)
@given(
    networks(kinds=st.just(SMALL)),
    st.integers(0, 7),
    st.sampled_from([Trees(k=k) for k in range(1, 6)] + [Trees(most=k) for k in range(1, 6)]),
)
def test_given_numbers_of_trees(collective: Collective, topology: Topology, place: int, method: Trees) -> None:
    check(topology, demand_for(topology, collective, place), method)


@examples(80)
@given(networks(kinds=st.just(SMALL)), st.data(), st.integers(1, 4))
def test_given_numbers_of_trees_for_shards_of_any_size(topology: Topology, data: st.DataObject, trees: int) -> None:
    check(topology, Demand(shards=data.draw(shards_for(topology))), Trees(k=trees))


@pytest.mark.parametrize("bits", [61, 70, 128, 190])
@examples(60)
@given(st.data())
def test_bandwidths_of_many_digits(bits: int, data: st.DataObject) -> None:
    bandwidths = st.one_of(st.integers(1, 2**bits), st.integers(2**bits - 9, 2**bits), st.just(1)).map(Fraction)
    check(data.draw(networks(most=6, kinds=st.just(bandwidths))))


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(30)
@given(st.one_of(networks(most=7), uneven_networks(most=6, kinds=st.just(SMALL))), st.data())
def test_some_of_the_compute_nodes(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    """Networks have idle compute nodes, and switches may be unbalanced."""
    check(topology, demand_over(topology, collective, data.draw(ranks_for(topology))))


@examples(25)
@given(networks(most=6, kinds=st.just(SMALL)), st.data(), st.integers(1, 3))
def test_shards_roots_and_numbers_of_trees(topology: Topology, data: st.DataObject, trees: int) -> None:
    ranks = data.draw(ranks_for(topology))
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(ranks), max_size=len(ranks)))
    shards = {topology.compute[rank]: Fraction(count, sum(counts)) for rank, count in zip(ranks, counts, strict=True)}
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        check(topology, Demand(collective, ranks, shards=shards))
    check(topology, Demand(ranks=ranks), Trees(k=trees))


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


@examples(60)
@given(one_way_networks(), st.data(), st.sampled_from(SCHEDULED))
def test_a_schedule_file_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, topology: Topology, data: st.DataObject, collective: Collective
) -> None:
    path = Path(tmp_path_factory.getbasetemp()) / "schedule.json"
    demand = demand_over(topology, collective, data.draw(ranks_for(topology)))
    if collective.has_shards and data.draw(st.booleans()):
        demand = replace(demand_for(topology, collective), shards=data.draw(shards_for(topology)))
    schedule = generate(topology, demand)
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule


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
def test_programs(topology: Topology, collective: Collective, place: int, options: dict[str, Any]) -> None:
    schedule = generate(topology, demand_for(topology, collective, place))
    lowering = lower(schedule, Options(**options))
    verdict = check_program(lowering.program)
    assert verdict.ok, verdict.fault
    assert lowering.algbw == schedule.algbw * (1 - lowering.loss)


@examples(40)
@given(
    st.data(),
    networks(kinds=st.just(SMALL)),
    st.sampled_from([Collective.ALLGATHER, Collective.REDUCE_SCATTER]),
    st.sampled_from(Style),
)
def test_programs_of_shards_of_any_size(
    data: st.DataObject, topology: Topology, collective: Collective, style: Style
) -> None:
    shards = data.draw(shards_for(topology))
    schedule = generate(topology, Demand(collective, shards=shards))
    lowering = lower(schedule, Options(style=style))
    assert check_program(lowering.program).ok
    chunks = lowering.program.chunks
    assert [Fraction(each, chunks) for each in lowering.program.shards] == [shards[node] for node in topology.compute]


@examples(20)
@given(networks(kinds=st.just(SMALL)), st.sampled_from(TARGETS))
def test_exports_of_an_all_to_all(topology: Topology, target: Target) -> None:
    schedule = generate(topology, "all-to-all")
    assert export_with(usual_options(schedule, target), schedule, target).target is target


@examples(40)
@given(
    networks(kinds=st.just(SMALL)),
    st.sampled_from(SCHEDULED),
    st.sampled_from(TARGETS),
    st.integers(1, 3),
    st.integers(1, 2),
)
def test_exports(topology: Topology, collective: Collective, target: Target, pieces: int, instances: int) -> None:
    options = Options(placement=Placement.OUT_OF_PLACE, pieces=pieces, instances=instances)
    schedule = generate(topology, demand_for(topology, collective, place=1))
    assert export_with(options, schedule, target).target is target


@pytest.mark.parametrize("spec", ["torus:dims=4x4", "mi250:boxes=2"])
def test_no_route_passes_through_a_compute_node_and_relays_are_used(spec: str) -> None:
    topology = build_topology(spec)
    schedule = generate(topology, Demand(ranks=every_third_idle(topology)))
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
    schedule = generate(builder.build(), Demand("broadcast", ranks=[1, 2, 3], root="a"))
    assert verify(schedule).optimal
    assert traffic_of(schedule).wire == 3


def test_a_symmetry_of_the_ranks_is_used() -> None:
    schedule = generate(
        build_topology("dgx-a100:boxes=4"), "allgather:ranks='0-3,8-11,16-19,24-27'", "trees:compact=true"
    )
    assert schedule.symmetry is not None
    assert schedule.symmetry.order > 1
    assert verify(schedule).ok


@pytest.mark.slow
@pytest.mark.parametrize("collective", SCHEDULED)
@examples(3000)
@given(st.one_of(networks(most=9), uneven_networks(most=7)), st.data())
def test_thousands_of_networks(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    check(topology, demand_over(topology, collective, data.draw(ranks_for(topology))))


@pytest.mark.slow
@examples(20_000)
@given(st.one_of(duplex_networks(most=9), one_way_networks(most=9)), st.integers(1, 9))
def test_thousands_of_optima(topology: Topology, trees: int) -> None:
    check(topology)
    assert optimum(topology).algbw == best_allgather(topology)
    check(topology, method=Trees(k=trees))


@pytest.mark.slow
@examples(100)
@given(st.one_of(duplex_networks(most=40), one_way_networks(most=40)))
def test_larger_networks(topology: Topology) -> None:
    check(topology)
