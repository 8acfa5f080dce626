"""Every method on random networks: schedules are right, reach their optima, are read back and become programs."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.asked import asked
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.programs.interpreter import check as check_program
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.programs.targets.target import Target, targets
from forestcoll.schedule.trees.traffic import traffic_of
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import (
    SMALL,
    built,
    demand_for,
    duplex_networks,
    examples,
    linked,
    networks,
    one_way_networks,
    ranks_for,
    shards_for,
    uneven_networks,
)  # fmt: skip
from one_answer import drawn_arguments, drawn_networks
from oracles import best_allgather
from schedule_checks import check_forests, demand_over, every_third_idle

TARGETS: tuple[Target, ...] = tuple(spec.make() for spec in targets.all() if spec.name != "astra-sim")


def check(topology: Topology, demand: Demand = Demand(), method: Trees = Trees()) -> None:  # noqa: B008 (frozen)
    """Check all methods; there may be no schedule of a given number of trees."""
    try:
        best = optimum(topology, demand, method)
    except NoSolutionError:
        assert method.k or method.most
    else:
        check_forests(best)


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(320)
@given(drawn_networks(), st.data())
def test_schedules_are_right(collective: Collective, topology: Topology, data: st.DataObject) -> None:
    """For some or all compute nodes, shards of any size, and any number of trees."""
    demand, method = asked(data.draw(drawn_arguments(topology, collective)))
    assert isinstance(demand, Demand)
    assert isinstance(method, Trees)
    check(topology, demand, method)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=7))
def test_an_allreduce_on_a_tree_reaches_the_least_bandwidth(edges: list[tuple[int, int]]) -> None:
    """Each link separates the nodes. One phase sends the shards of one side over it, the other phase the rest."""
    links = [(node, parent % node, bandwidth) for node, (parent, bandwidth) in enumerate(edges, start=1)]
    schedule = generate(built(range(len(edges) + 1), links), "allreduce")
    assert schedule.bound is not None
    assert schedule.algbw == schedule.bound.algbw == min(bandwidth for _, bandwidth in edges)
    assert verify(schedule).optimal


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
    shards = data.draw(shards_for(topology.compute))
    schedule = generate(topology, Demand(collective, shards=shards))
    lowering = lower(schedule, Options(style=style))
    assert check_program(lowering.program).ok
    chunks = lowering.program.chunks
    assert [Fraction(each, chunks) for each in lowering.program.shards] == [shards[node] for node in topology.compute]


@examples(20)
@given(networks(kinds=st.just(SMALL)), st.sampled_from(TARGETS))
def test_exports_of_an_all_to_all(topology: Topology, target: Target) -> None:
    schedule = generate(topology, "all-to-all")
    assert target.export(schedule, target.usual_options(schedule)).target is target


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
    assert target.export(schedule, options).target is target


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
    schedule = generate(linked("hub a b c", "hub=a hub=b hub=c"), Demand("broadcast", ranks=[1, 2, 3], root="a"))
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
