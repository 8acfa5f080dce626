"""Compare the optimum of every collective with its definition: the minimum over all cuts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.forests.broadcast import broadcast_bound, reduce_bound
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.optimum import optimum
from forestcoll.topology import NodeId, Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from networks import examples, networks, one_way_networks, shards_for
from oracles import (
    algbw_of_cut,
    best_from,
    best_scale_of,
    best_towards,
    can_feed,
    check_bound,
    least_exit,
    overdrawn_switches,
)


def equal_shards(topology: Topology) -> dict[int, Fraction]:
    return dict.fromkeys(topology.compute, Fraction(1, len(topology.compute)))


def check_trees(best: Optimum) -> None:
    """Check that the stated number of trees fits, from the roots or, for collectives that reduce, to the roots."""
    (plan,) = best.forests
    check_plan(plan)
    assert best.algbw == plan.algbw
    assert best.algbw == sum(best.weights) * best.trees_per_root * best.tree_bandwidth


def check_plan(plan: ForestPlan) -> None:
    out = plan.outwards()
    ends = [(link.source, link.target) for link in out.topology.links]
    capacities = dict(zip(ends, out.tree_capacities(), strict=True))
    supplies = dict(zip(out.topology.compute, (out.trees_per_root * each for each in out.weights), strict=True))
    assert can_feed(len(out.topology.nodes), capacities, out.topology.compute, supplies)
    assert not overdrawn_switches(out.topology, capacities)
    assert plan.algbw == plan.trees * plan.tree_bandwidth


def check(best: Optimum, expected: Fraction) -> None:
    assert best.algbw == best.bound.algbw == algbw_of_cut(best) == expected
    check_bound(best)
    check_trees(best)


@examples(300)
@given(networks())
def test_reduce_scatter(topology: Topology) -> None:
    check(optimum(topology, Collective.REDUCE_SCATTER), best_towards(topology, equal_shards(topology)))


@examples(300)
@given(networks(), st.data())
def test_broadcast(topology: Topology, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(topology.compute))
    check(optimum(topology, Collective.BROADCAST, root=root), best_from(topology, {root: Fraction(1)}))


@examples(300)
@given(networks(), st.data())
def test_reduce(topology: Topology, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(topology.compute))
    check(optimum(topology, Collective.REDUCE, root=root), best_towards(topology, {root: Fraction(1)}))


@examples(500)
@given(networks(), st.data())
def test_shards_of_any_size(topology: Topology, data: st.DataObject) -> None:
    shards = data.draw(shards_for(topology))
    check(optimum(topology, shards=shards), best_from(topology, shards))
    check(optimum(topology, Collective.REDUCE_SCATTER, shards=shards), best_towards(topology, shards))


@examples(200)
@given(networks(most=5), st.data(), st.integers(1, 3))
def test_a_number_of_trees_for_shards_of_any_size(topology: Topology, data: st.DataObject, trees: int) -> None:
    shards = data.draw(shards_for(topology))
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        try:
            best = optimum(topology, collective, shards=shards, trees=trees)
        except NoSolutionError:
            continue
        check_bound(best)
        check_trees(best)
        out = best.forests[0].outwards()
        supplies = dict(zip(out.topology.compute, (trees * each for each in out.weights), strict=True))
        assert 1 / best.tree_bandwidth == best_scale_of(out.topology, supplies)


@examples(200)
@given(networks())
def test_an_allreduce_reaches_the_optimum_of_trees(topology: Topology) -> None:
    """If the two halves in sequence reach the optimum, the plan consists of them. Otherwise it divides all links.

    The linear program may lack an exact solution only if bandwidths have seven or more digits.
    """
    best = optimum(topology, Collective.ALLREDUCE)
    to_all, from_all = best_towards(topology, equal_shards(topology)), optimum(topology)
    check_bound(best)
    assert algbw_of_cut(best) == least_exit(topology)
    program = allreduce_optimum(topology)
    if program.exact:
        assert best.algbw == best.bound.algbw == program.upper
    else:
        assert max(link.bandwidth for link in topology.links) >= 10**6
    assert best.algbw >= 1 / (1 / to_all + 1 / from_all.algbw)
    reduces, gathers = best.forests
    if gathers.topology == topology:
        assert reduces.algbw == to_all
        assert (gathers,) == from_all.forests
        check_plan(reduces)
    else:
        assert reduces.algbw == gathers.algbw == best.algbw


@examples(100)
@given(one_way_networks())
def test_a_collective_equals_its_dual_on_the_transposed_network(topology: Topology) -> None:
    for collective in (Collective.ALLGATHER, Collective.BROADCAST):
        root = topology.compute[0] if collective.has_root else None
        best = optimum(topology, collective, root=root)
        dual = optimum(topology.transposed(), collective.dual, root=root)
        assert (dual.algbw, dual.bound.algbw) == (best.algbw, best.bound.algbw)
        assert dual.forests == tuple(plan.transposed() for plan in best.forests)
        assert set(dual.cut) == set(range(len(topology.nodes))) - set(best.cut)


@examples(150)
@given(networks())
def test_the_optimum_of_a_root_equals_its_row_in_the_table_of_bounds(topology: Topology) -> None:
    for root in topology.compute:
        assert optimum(topology, Collective.BROADCAST, root=root).algbw == broadcast_bound(topology, root).algbw
        assert optimum(topology, Collective.REDUCE, root=root).algbw == reduce_bound(topology, root).algbw


def test_equal_shards_are_the_default() -> None:
    topology = build_topology("ring:nodes=4")
    shards: dict[NodeId, object] = {0: "1/4", "1": 0.25, 2: Fraction(1, 4), 3: "0.25"}
    assert optimum(topology, shards=shards) == optimum(topology)


@pytest.mark.parametrize(
    ("spec", "root", "broadcast"),
    [("dgx-a100:boxes=2", "b0/gpu0", 200), ("ring:nodes=5,one_way=true", 0, 1), ("hypercube:dim=3", 5, 3)],
)
def test_known_broadcasts(spec: str, root: NodeId, broadcast: int) -> None:
    for collective in (Collective.BROADCAST, Collective.REDUCE):
        assert optimum(build_topology(spec), collective, root=root).algbw == broadcast


@pytest.mark.parametrize(
    ("spec", "lower", "upper"),
    [
        ("complete:nodes=5", Fraction(5, 2), Fraction(4)),
        ("ring:nodes=6,one_way=true", Fraction(6, 10), Fraction(1)),
        ("ring:nodes=6", Fraction(6, 5), Fraction(2)),
        ("hypercube:dim=3", Fraction(4 * 3, 7), Fraction(3)),
    ],
)
def test_known_rates_of_allreduce(spec: str, lower: Fraction, upper: Fraction) -> None:
    best = optimum(build_topology(spec), "allreduce")
    assert (best.algbw, best.bound.algbw, algbw_of_cut(best)) == (lower, lower, upper)


def test_reduce_scatter_and_allgather_differ_on_one_way_networks() -> None:
    """Node 0 has an incoming bandwidth of 1 and an outgoing bandwidth of 2, so an allgather is slower."""
    builder = TopologyBuilder("one-way")
    for node in range(4):
        builder.add_compute(node)
    for source, target, bandwidth in ((0, 1, 1), (0, 2, 1), (1, 2, 3), (2, 3, 5), (3, 0, 1), (3, 1, 3)):
        builder.add_link(source, target, bandwidth)
    topology = builder.build()
    assert optimum(topology).algbw == Fraction(4, 3)
    assert optimum(topology, "reduce-scatter").algbw == Fraction(8, 3)
    assert optimum(topology, "broadcast", root=0).algbw == 2
    assert optimum(topology, "reduce", root=0).algbw == 1
