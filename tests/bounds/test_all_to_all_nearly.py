"""All-to-alls whose linear program is too large: the optimum is between the reached rate and the bound."""

from fractions import Fraction

import pytest
from hypothesis import given

from forestcoll.bounds.all_to_all import (
    AllToAllOptimum,
    all_to_all_nearly,
    all_to_all_optimum,
    all_to_all_rate,
    rate_by_lengths,
)
from forestcoll.core import Core, cores
from forestcoll.errors import InputError
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from networks import examples, networks, one_way_networks


@examples(60)
@given(networks())
def test_the_optimum_is_between_the_reached_rate_and_the_bound(topology: Topology) -> None:
    best, near = all_to_all_optimum(topology), all_to_all_nearly(topology, gap=0.0, rounds=40)
    assert near.reached is not None
    assert near.reached <= min(best.pair_rate, near.pair_rate)
    assert not best.exact or best.pair_rate <= near.pair_rate
    assert near.residual == pytest.approx(float(near.pair_rate / near.reached) - 1)
    assert rate_by_lengths(topology, near.lengths) == near.pair_rate


@examples(60)
@given(one_way_networks(most=6))
def test_every_core_reaches_at_most_the_optimum_and_bounds_it(topology: Topology) -> None:
    scaled = ScaledTopology.of(topology)
    found, capacities = all_to_all_optimum(topology), scaled.capacities
    tails, heads = [link.source for link in topology.links], [link.target for link in topology.links]
    for core in cores().values():
        problem = core.Problem(len(topology.nodes), tails, heads, list(capacities), list(topology.compute))
        units, loads, lengths = core.spread_all_to_all(problem, 5, 0.0)
        needed = [Fraction(load, units * each) for each, load in zip(capacities, loads, strict=True)]
        assert scaled.unit / max(needed) <= found.pair_rate
        used = sum(each * length for each, length in zip(capacities, lengths, strict=True))
        bound = scaled.unit * Fraction(used, core.distance_sum(problem, lengths))
        assert not found.exact or bound >= found.pair_rate


def test_distances_are_added_up(core: Core) -> None:
    problem = core.Problem(4, [0, 1, 2, 3, 0], [1, 2, 3, 0, 2], [1] * 5, [0, 1, 3])
    # 0 -> 1: 5, 0 -> 3: 1 + 3, 1 -> 3: 2 + 3, 1 -> 0: 2 + 3 + 7, 3 -> 0: 7, 3 -> 1: 7 + 5
    assert core.distance_sum(problem, [5, 2, 3, 7, 1]) == 5 + 4 + 5 + 12 + 7 + 12
    with pytest.raises(ValueError, match="cannot reach"):
        core.distance_sum(core.Problem(3, [0, 1], [1, 0], [1, 1], [0, 1, 2]), [1, 1])


def _nearly(topology: Topology) -> AllToAllOptimum:
    found = all_to_all_rate(topology)
    assert found.reached is not None
    assert not found.exact
    return found


def test_a_network_without_symmetry_is_bounded_within_some_percent() -> None:
    assert _nearly(build_topology("generalized-kautz:nodes=256,degree=4")).residual < 0.03


@pytest.mark.slow
def test_the_flow_of_the_first_row_of_table_4() -> None:
    found = _nearly(build_topology("generalized-kautz:nodes=1024,degree=4"))
    assert found.residual < 0.03
    assert found.reached is not None
    assert float(found.reached) < 8.015e-4
    assert float(found.pair_rate) > 8.005e-4


def test_shifted_rings_of_a_thousand_nodes_have_the_published_time() -> None:
    # Table 4: 10738 us for 1 MiB per node at 100 Gb/s, a quarter of it over each link.
    found = all_to_all_rate(build_topology("shifted-ring:nodes=1024"))
    assert found.pair_rate == Fraction(2, 65537)
    assert round(2**20 * 8 / 100e3 * 4 / 1024 / float(found.pair_rate)) == 10738


def test_the_line_graph_of_a_complete_bipartite_graph() -> None:
    pairs = [(one, 4 + other) for one in range(4) for other in range(4)]
    edges = pairs + [(other, one) for one, other in pairs]
    builder = TopologyBuilder("line graph")
    for edge in range(len(edges)):
        builder.add_compute(edge)
    for one, (_, middle) in enumerate(edges):
        for other, (start, _) in enumerate(edges):
            if middle == start:
                builder.add_link(one, other, 1)
    assert all_to_all_optimum(builder.build()).pair_rate == Fraction(4, 70)  # Table 7: 5.71e-2


def test_a_network_that_is_too_large_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.bounds.all_to_all.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.bounds.all_to_all.MOST_SPREAD", 7)
    with pytest.raises(InputError, match="8 compute nodes and too little symmetry"):
        all_to_all_rate(build_topology("ring:nodes=8"))
    assert all_to_all_rate(build_topology("ring:nodes=7")).residual < 0.1
