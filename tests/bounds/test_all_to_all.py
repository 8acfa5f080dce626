from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.bounds.all_to_all import AllToAllOptimum, all_to_all_optimum, flow_fault, rate_by_lengths
from forestcoll.topology import Symmetry, Topology, TopologyBuilder
from forestcoll.topology.orbits import Orbits
from forestcoll.topology.registry import build_topology
from networks import SMALL, examples, networks
from oracles import exit_bandwidth, subsets


def solved(topology: Topology, orbits: Orbits | None = None) -> AllToAllOptimum:
    """Return the optimum after a check of both halves of its proof, the lengths without a symmetry."""
    found = all_to_all_optimum(topology, orbits=orbits)
    assert found.exact
    assert rate_by_lengths(topology, found.lengths) == found.pair_rate
    assert flow_fault(topology, found.flow, found.sources, found.pair_rate, orbits or Orbits.of(topology)) is None
    return found


def alone(topology: Topology) -> Orbits:
    return Orbits.of(topology, Symmetry(()))


@pytest.mark.parametrize("nodes", range(3, 10))
def test_rings(nodes: int) -> None:
    # On a one-way ring, data travels a mean of (1 + … + N-1)/N links; on a full-duplex ring, the shorter direction.
    assert solved(build_topology(f"ring:nodes={nodes},one_way=true")).pair_rate == Fraction(2, nodes * (nodes - 1))
    hops = sum(min(step, nodes - step) for step in range(nodes))
    assert solved(build_topology(f"ring:nodes={nodes}")).pair_rate == Fraction(2, hops)


@pytest.mark.parametrize("nodes", range(2, 7))
def test_a_complete_network_sends_over_each_link_once(nodes: int) -> None:
    assert solved(build_topology(f"complete:nodes={nodes}")).pair_rate == 1


@pytest.mark.parametrize("dimensions", range(1, 5))
def test_a_hypercube(dimensions: int) -> None:
    assert solved(build_topology(f"hypercube:dim={dimensions}")).pair_rate == Fraction(2, 2**dimensions)


@pytest.mark.parametrize(
    ("spec", "rate"),
    [("dgx-a100:boxes=2", Fraction(25, 8)), ("torus:dims=4x4", Fraction(1, 8)), ("dgx-a100:boxes=1", Fraction(300, 7))],
)
def test_machines_and_tori(spec: str, rate: Fraction) -> None:
    assert solved(build_topology(spec)).pair_rate == rate


def test_a_chain_is_limited_by_its_middle() -> None:
    builder = TopologyBuilder("chain")
    for node in range(6):
        builder.add_compute(node)
    for one, other in pairwise(range(6)):
        builder.add_duplex(one, other, 1)
    found = solved(builder.build())
    assert found.pair_rate == Fraction(1, 9)


@examples(50)
@given(networks(most=6, kinds=st.just(SMALL)))
def test_the_rate_is_within_every_cut_and_does_not_depend_on_symmetry(topology: Topology) -> None:
    compute = frozenset(topology.compute)
    found = solved(topology, alone(topology))
    assert found.pair_rate == solved(topology).pair_rate
    for inside in subsets(range(len(topology.nodes))):
        pairs = len(inside & compute) * len(compute - inside)
        assert found.pair_rate * pairs <= exit_bandwidth(topology, inside)


@examples(50)
@given(networks(most=6, kinds=st.just(SMALL)), st.lists(st.integers(0, 5), min_size=60, max_size=60))
def test_no_lengths_prove_a_bound_below_the_optimum(topology: Topology, lengths: list[int]) -> None:
    proven = rate_by_lengths(topology, lengths[: len(topology.links)])
    assert proven is None or proven >= solved(topology, alone(topology)).pair_rate


def test_invalid_lengths_and_flows_are_refused() -> None:
    topology = build_topology("ring:nodes=5")
    orbits = alone(topology)
    found = solved(topology, orbits)
    assert rate_by_lengths(topology, [-1, *found.lengths[1:]]) is None
    assert rate_by_lengths(topology, found.lengths[1:]) is None
    assert rate_by_lengths(topology, [0] * len(topology.links)) is None
    more = found.pair_rate + Fraction(1, 10**9)
    assert "less than the rate from 0" in str(flow_fault(topology, found.flow, found.sources, more, orbits))
    assert "one source" in str(flow_fault(topology, found.flow, (0,), found.pair_rate, orbits))
    first = (found.flow[0][0] - 1, *found.flow[0][1:])
    assert "negative" in str(flow_fault(topology, (first, *found.flow[1:]), found.sources, found.pair_rate, orbits))
    slower = replace(topology, links=tuple(replace(link, bandwidth=link.bandwidth / 2) for link in topology.links))
    assert "used beyond its bandwidth" in str(flow_fault(slower, found.flow, found.sources, found.pair_rate, orbits))
