"""Compare the optimum of every collective with its definition: the minimum over all cuts."""

from dataclasses import replace
from fractions import Fraction
from math import floor, lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.forests.broadcast import broadcast_bound, broadcast_bounds, reduce_bound, reduce_bounds
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import duplex_networks, examples, linked, networks, one_way_networks, shards_for
from oracles import (
    algbw_of_cut,
    best_allgather,
    best_from,
    best_scale_of,
    best_towards,
    can_feed,
    check_bound,
    exit_bandwidth,
    least_exit,
    overdrawn_switches,
)
from schedule_checks import check_forests

KINDS = {
    "full duplex": duplex_networks(),
    "one way": one_way_networks(unbalanced=False),
    "unbalanced compute nodes": one_way_networks(unbalanced=True),
}


def equal_shards(topology: Topology) -> dict[int, Fraction]:
    return dict.fromkeys(topology.compute, Fraction(1, len(topology.compute)))


def check_plan(plan: ForestPlan) -> None:
    """Check that the stated number of trees fits, from the roots or, for collectives that reduce, to the roots."""
    out = plan.outwards()
    ends = [(link.source, link.target) for link in out.topology.links]
    capacities = dict(zip(ends, out.tree_capacities(), strict=True))
    supplies = dict(zip(out.topology.compute, (out.trees_per_root * each for each in out.weights), strict=True))
    assert can_feed(len(out.topology.nodes), capacities, out.topology.compute, supplies)
    assert not overdrawn_switches(out.topology, capacities)
    assert plan.algbw == plan.trees * plan.tree_bandwidth


def check_trees(best: TreeOptimum) -> None:
    (plan,) = best.forests
    check_plan(plan)
    assert best.algbw == plan.algbw
    assert best.algbw == sum(best.weights) * best.trees_per_root * best.tree_bandwidth


def check(best: TreeOptimum, expected: Fraction) -> None:
    assert best.algbw == best.bound.algbw == algbw_of_cut(best) == expected
    check_bound(best)
    check_trees(best)


def check_number_of_trees(best: TreeOptimum) -> None:
    """Check that the trees are at most the number that uses all bandwidth, and round each bandwidth down."""
    links, (plan,) = best.topology.links, best.forests
    per_root = best.algbw / len(best.topology.compute)
    assert best.trees_per_root <= lcm(*((link.bandwidth / per_root).denominator for link in links))
    assert best.trees_per_root * best.tree_bandwidth == per_root
    unused = plan.unused or (0,) * len(links)
    assert min(unused) >= 0
    whole = (floor(link.bandwidth / best.tree_bandwidth) for link in links)
    assert plan.tree_capacities() == tuple(each - spare for each, spare in zip(whole, unused, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@examples(300)
@given(st.data())
def test_an_allgather(kind: str, data: st.DataObject) -> None:
    topology = data.draw(KINDS[kind])
    best = optimum(topology)
    check(best, best_allgather(topology))
    check_number_of_trees(best)


@examples(150)
@given(networks(), st.fractions(Fraction(1, 10**6), 10**6).filter(bool))
def test_scaled_bandwidths_scale_the_optimum(topology: Topology, factor: Fraction) -> None:
    links = tuple(replace(link, bandwidth=link.bandwidth * factor) for link in topology.links)
    best, other = optimum(topology), optimum(replace(topology, links=links))
    assert other.algbw == factor * best.algbw
    assert other.tree_bandwidth == factor * best.tree_bandwidth
    assert (other.trees_per_root, other.cut) == (best.trees_per_root, best.cut)


@examples(250)
@given(networks())
def test_a_reduce_scatter(topology: Topology) -> None:
    check(optimum(topology, Collective.REDUCE_SCATTER), best_towards(topology, equal_shards(topology)))


@examples(200)
@given(networks(), st.data())
def test_a_broadcast_and_a_reduce(topology: Topology, data: st.DataObject) -> None:
    root = data.draw(st.sampled_from(topology.compute))
    sent, summed = optimum(topology, Demand("broadcast", root=root)), optimum(topology, Demand("reduce", root=root))
    check(sent, best_from(topology, {root: Fraction(1)}))
    check(summed, best_towards(topology, {root: Fraction(1)}))
    assert broadcast_bound(topology, root).algbw == sent.algbw
    assert reduce_bound(topology, root).algbw == summed.algbw


@examples(200)
@given(networks(), st.data())
def test_shards_of_any_size(topology: Topology, data: st.DataObject) -> None:
    shards = data.draw(shards_for(topology.compute))
    check(optimum(topology, Demand(shards=shards)), best_from(topology, shards))
    check(optimum(topology, Demand(Collective.REDUCE_SCATTER, shards=shards)), best_towards(topology, shards))


@examples(150)
@given(networks(most=5), st.data(), st.integers(1, 3))
def test_a_number_of_trees_for_shards_of_any_size(topology: Topology, data: st.DataObject, trees: int) -> None:
    shards = data.draw(shards_for(topology.compute))
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        try:
            best = optimum(topology, Demand(collective, shards=shards), Trees(k=trees))
        except NoSolutionError:
            continue
        check_bound(best)
        check_trees(best)
        out = best.forests[0].outwards()
        supplies = dict(zip(out.topology.compute, (trees * each for each in out.weights), strict=True))
        assert 1 / best.tree_bandwidth == best_scale_of(out.topology, supplies)


@examples(100)
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
        best = optimum(topology, Demand(collective, root=root))
        dual = optimum(topology.transposed(), Demand(collective.dual, root=root))
        assert (dual.algbw, dual.bound.algbw) == (best.algbw, best.bound.algbw)
        assert dual.forests == tuple(plan.transposed() for plan in best.forests)
        assert set(dual.cut) == set(range(len(topology.nodes))) - set(best.cut)


@pytest.mark.parametrize("bits", [61, 70, 128, 195])
@examples(75)
@given(st.data())
def test_bandwidths_of_many_digits(bits: int, data: st.DataObject) -> None:
    most = 2**bits
    bandwidths = st.one_of(st.integers(1, most), st.integers(most // 2, most), st.just(1)).map(Fraction)
    topology = data.draw(networks(most=6, kinds=st.just(bandwidths)))
    best = optimum(topology)
    check(best, best_allgather(topology))
    check_forests(best)


@pytest.mark.parametrize("bits", [60, 61, 62, 63, 64, 122, 124, 125, 127, 128])
def test_sums_at_the_limits_of_the_integer_widths(bits: int) -> None:
    links = (f"{node}=s:{2**bits - node}" for node in range(4))
    topology = linked("0 1 2 3", " ".join(links), switches="s")
    check(optimum(topology), best_allgather(topology))


@examples(100)
@given(networks(most=7))
def test_the_worst_and_the_best_root_are_found(topology: Topology) -> None:
    broadcasts = [broadcast_bound(topology, root) for root in topology.compute]
    reduces = [reduce_bound(topology, root) for root in topology.compute]
    for (worst, best), each in ((broadcast_bounds(topology), broadcasts), (reduce_bounds(topology), reduces)):
        algbws = {bound.root: bound.algbw for bound in each}
        assert (worst.algbw, best.algbw) == (min(algbws.values()), max(algbws.values()))
        assert (algbws[worst.root], algbws[best.root]) == (worst.algbw, best.algbw)
        assert all(exit_bandwidth(topology, frozenset(one.cut)) == one.algbw for one in (worst, best, *each))
    assert all(bound.root in bound.cut for bound in broadcasts)
    assert not any(bound.root in bound.cut for bound in reduces)
    assert broadcast_bounds(topology)[0].algbw == reduce_bounds(topology)[0].algbw == least_exit(topology)


@pytest.mark.parametrize(
    ("spec", "algbw"),
    [("ring:nodes=8", 2), ("ring:nodes=8,one_way=true", 1), ("hypercube:dim=4", 4), ("complete:nodes=6", 5),
     ("torus:dims=4x4x4", 6), ("dgx-a100:boxes=2", 200), ("dgx-a100:boxes=1", 300)],
)  # fmt: skip
def test_known_bounds_of_all_roots(spec: str, algbw: int) -> None:
    topology = build_topology(spec)
    assert {each.algbw for each in (*broadcast_bounds(topology), *reduce_bounds(topology))} == {algbw}


def test_a_root_that_reaches_no_other_node_has_a_bound_of_zero() -> None:
    bound = broadcast_bound(linked("a b c", "a=b a>c", connected=False), 2)
    assert bound.algbw == 0
    assert bound.cut == (2,)
