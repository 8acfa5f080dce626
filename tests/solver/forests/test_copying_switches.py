"""Unbalanced switches that copy or add up: the optimum is between that of trees without copies and the cut bound."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.verification import verify
from networks import SMALL, examples
from oracles import algbw_of_cut, check_bound, exit_bandwidth, subsets


def fan(receivers: int, *, multicast: bool) -> Topology:
    """A root with a link of 1 to a switch, which has a link of 1 to each receiver, and wide links back to the root."""
    builder = TopologyBuilder("fan")
    builder.add_compute("root")
    builder.add_switch("switch", multicast=multicast)
    builder.add_link("root", "switch", 1)
    for number in range(receivers):
        builder.add_compute(number)
        builder.add_link("switch", number, 1)
        builder.add_link(number, "root", 1)
    return builder.build()


def test_a_switch_that_copies_sends_to_all_receivers_at_full_rate() -> None:
    topology = fan(3, multicast=True)
    best = optimum(topology, "broadcast", root="root")
    assert best.algbw == best.bound.algbw == 1
    schedule = generate(topology, "broadcast", root="root")
    assert verify(schedule).optimal
    (tree,) = schedule.phases[0]
    assert schedule.routes[tree.routes[0]] == (0, 1)
    assert len(tree.routes) == 4


def test_a_switch_that_adds_up_receives_from_all_senders_at_full_rate() -> None:
    topology = fan(3, multicast=True).transposed()
    schedule = generate(topology, "reduce", root="root")
    assert schedule.algbw == 1
    assert verify(schedule).optimal


def test_a_switch_that_cannot_copy_divides_its_input_among_the_receivers() -> None:
    best = optimum(fan(3, multicast=False), "broadcast", root="root")
    assert best.algbw == best.bound.algbw == Fraction(1, 3)
    assert best.bound.proof.kind == "tree-dual"
    assert algbw_of_cut(best) == 1
    check_bound(best)
    assert verify(generate(best.topology, "broadcast", root="root")).ok


@st.composite
def unbalanced(draw: st.DrawFn) -> Topology:
    """Up to five compute nodes on a ring, and up to two switches that can do anything, with links of any bandwidth."""
    compute, switches = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    builder = TopologyBuilder("unbalanced")
    for node in range(compute):
        builder.add_compute(node)
    for node in range(compute, compute + switches):
        builder.add_switch(node, multicast=True, aggregation=True)
    for node in range(compute):
        builder.add_link(node, (node + 1) % compute, draw(SMALL))
    for switch in range(compute, compute + switches):
        for node in draw(st.sets(st.integers(0, switch - 1))):
            builder.add_link(node, switch, draw(SMALL))
        for node in draw(st.sets(st.integers(0, switch - 1))):
            builder.add_link(switch, node, draw(SMALL))
    return builder.build()


def bound_of(topology: Topology, weight_of: dict[int, Fraction]) -> Fraction:
    """Return the least ratio of exit bandwidth to the data that must leave, over all sets that miss a compute node."""
    return min(
        exit_bandwidth(topology, inside) / weight
        for inside in subsets(range(len(topology.nodes)))
        if (weight := sum((weight_of.get(node, Fraction(0)) for node in inside), Fraction(0)))
        and not set(topology.compute) <= set(inside)
    )


def solved(topology: Topology, **options: Any) -> Any:
    """Return the optimum; reject the example if there is no solution with the number of trees."""
    try:
        return optimum(topology, **options)
    except NoSolutionError:
        if "trees" not in options:
            raise
        raise UnsatisfiedAssumption from None


@pytest.mark.parametrize("collective", list(SCHEDULED))
@examples(100)
@given(unbalanced())
def test_the_optimum_is_reached_and_its_bound_is_right(collective: Collective, topology: Topology) -> None:
    root: dict[str, Any] = {"root": 0} if collective.has_root else {}
    best = solved(topology, collective=collective, **root)
    schedule = generate(topology, collective, **root)
    report = verify(schedule)
    assert report.fault is None
    check_bound(best)
    assert best.algbw == schedule.algbw
    network = topology.transposed() if collective.only_reduces else topology
    weights = dict.fromkeys(topology.compute, Fraction(1, len(topology.compute)))
    if collective is not Collective.ALLREDUCE:
        assert algbw_of_cut(best) == bound_of(network, {0: Fraction(1)} if root else weights)


@examples(60)
@given(unbalanced(), st.integers(1, 4))
def test_a_number_of_trees(topology: Topology, trees: int) -> None:
    best = solved(topology, collective="broadcast", root=0, trees=trees)
    schedule = generate(topology, "broadcast", root=0, trees=trees)
    assert verify(schedule).fault is None
    check_bound(best)
    assert best.algbw == schedule.algbw
    assert sum(1 / tree.share for tree in schedule.phases[0]) >= 1


@examples(60)
@given(unbalanced())
def test_switches_that_copy_are_never_slower(topology: Topology) -> None:
    plain = replace(topology).without_abilities()
    copying, passing = optimum(topology), optimum(plain)
    assert passing.algbw == passing.bound.algbw <= copying.algbw <= copying.bound.algbw
    assert copying.bound.algbw <= algbw_of_cut(copying) == algbw_of_cut(passing)
    if plain.has_balanced_switches:
        assert copying.algbw == passing.algbw


def test_a_few_trees_are_tried_where_the_search_misses_the_optimum() -> None:
    builder = TopologyBuilder("few trees")
    for node in ("c0", "c1", "c2"):
        builder.add_compute(node)
    for node in ("s0", "s1"):
        builder.add_switch(node, multicast=True, aggregation=True)
    links = "c1 c2 7, c2 s0 3, s0 c0 4, c0 s1 2, s1 c1 3, s1 c0 4, s0 c1 2"
    for source, target, bandwidth in map(str.split, links.split(", ")):
        builder.add_link(source, target, bandwidth)
    best = optimum(builder.build())
    assert (best.algbw, best.trees_per_root, best.is_optimal) == (Fraction(9, 2), 1, True)
    assert verify(generate(best.topology)).algbw == best.algbw
