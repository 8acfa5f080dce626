"""Compare the optimum with its definition: the minimum over all cuts."""

from dataclasses import replace
from fractions import Fraction
from math import floor, lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from networks import duplex_networks, examples, networks, one_way_networks
from oracles import best_allgather, can_feed, exit_bandwidth, overdrawn_switches


def scaled(topology: Topology, factor: Fraction) -> Topology:
    links = tuple(replace(link, bandwidth=link.bandwidth * factor) for link in topology.links)
    return replace(topology, links=links)


def check_certificate(best: Optimum) -> None:
    topology, inside = best.topology, frozenset(best.cut)
    compute_inside = len(inside & frozenset(topology.compute))
    assert list(best.cut) == sorted(inside)
    assert 0 < compute_inside < len(topology.compute)
    assert best.compute_inside == compute_inside
    assert best.exit_bandwidth == exit_bandwidth(topology, inside)
    assert best.bound.algbw == len(topology.compute) * best.exit_bandwidth / compute_inside


def check(topology: Topology) -> None:
    best = optimum(topology)
    assert best.algbw == best.bound.algbw == best_allgather(topology)
    check_certificate(best)


@examples(500)
@given(duplex_networks())
def test_full_duplex(topology: Topology) -> None:
    check(topology)


@examples(500)
@given(one_way_networks(unbalanced=False))
def test_one_way(topology: Topology) -> None:
    check(topology)


@examples(500)
@given(one_way_networks(unbalanced=True))
def test_one_way_with_unbalanced_compute_nodes(topology: Topology) -> None:
    check(topology)


@examples(500)
@given(networks())
def test_the_number_of_trees_is_at_most_the_number_that_uses_all_bandwidth(topology: Topology) -> None:
    best = optimum(topology)
    per_root = best.algbw / len(topology.compute)
    assert best.trees_per_root <= lcm(*((link.bandwidth / per_root).denominator for link in topology.links))
    assert best.trees_per_root * best.tree_bandwidth == per_root
    (plan,) = best.forests
    numbers = [link.bandwidth / best.tree_bandwidth for link in topology.links]
    unused = plan.unused or (0,) * len(numbers)
    assert all(spare >= 0 for spare in unused)
    assert plan.tree_capacities() == tuple(floor(number) - spare for number, spare in zip(numbers, unused, strict=True))


@examples(300)
@given(networks())
def test_the_stated_number_of_trees_fits_and_overdraws_no_switch(topology: Topology) -> None:
    best = optimum(topology)
    ends = [(link.source, link.target) for link in topology.links]
    capacities = dict(zip(ends, best.forests[0].tree_capacities(), strict=True))
    assert can_feed(len(topology.nodes), capacities, topology.compute, best.trees_per_root)
    assert not overdrawn_switches(topology, capacities)


@examples(300)
@given(networks(), st.fractions(Fraction(1, 10**6), 10**6).filter(bool))
def test_scaled_bandwidths_scale_the_optimum(topology: Topology, factor: Fraction) -> None:
    best, other = optimum(topology), optimum(scaled(topology, factor))
    assert other.algbw == factor * best.algbw
    assert other.tree_bandwidth == factor * best.tree_bandwidth
    assert (other.trees_per_root, other.cut) == (best.trees_per_root, best.cut)


@pytest.mark.parametrize("bits", [61, 70, 128, 195])
@examples(100)
@given(st.data())
def test_bandwidths_of_many_digits(bits: int, data: st.DataObject) -> None:
    most = 2**bits
    bandwidths = st.one_of(st.integers(1, most), st.integers(most // 2, most), st.just(1)).map(Fraction)
    topology = data.draw(networks(most=6, kinds=st.just(bandwidths)))
    check(topology)


@pytest.mark.parametrize("bits", [60, 61, 62, 63, 64, 122, 124, 125, 127, 128])
def test_sums_at_the_limits_of_the_integer_widths(bits: int) -> None:
    builder = TopologyBuilder("star")
    builder.add_switch("s")
    for node in range(4):
        builder.add_duplex(builder.add_compute(node), "s", 2**bits - node)
    check(builder.build())
