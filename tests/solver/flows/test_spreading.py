"""All-to-alls whose linear program is too large: the optimum is between the reached rate and the bound."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.kernels import Core, cores
from forestcoll.schedule.proof.lengths.lengths import LengthsProof
from forestcoll.solver.flows.classes import FlowClasses
from forestcoll.solver.flows.spreading import spread_all_to_all
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.orbits import Orbits
from networks import examples, networks, one_way_networks


@examples(60)
@given(one_way_networks(most=6))
def test_the_optimum_is_between_what_every_core_reaches_and_its_bound(topology: Topology) -> None:
    scaled, nodes = ScaledTopology.of(topology), len(topology.compute)
    found, capacities = optimum(topology, "all-to-all"), scaled.capacities
    reached, lengths_of_links = spread_all_to_all(topology, gap=0.0, rounds=40)
    bound = LengthsProof.of(topology, lengths_of_links).algbw(topology, NodeDemand(Collective.ALL_TO_ALL))
    assert reached <= found.bound.algbw
    assert found.algbw <= bound
    tails, heads = [link.source for link in topology.links], [link.target for link in topology.links]
    for core in cores().values():
        problem = core.Problem(len(topology.nodes), tails, heads, list(capacities), list(topology.compute))
        units, loads, lengths = core.spread_all_to_all(problem, 5, 0.0)
        needed = [Fraction(load, units * each) for each, load in zip(capacities, loads, strict=True)]
        assert nodes * scaled.unit / max(needed) <= found.bound.algbw
        used = sum(each * length for each, length in zip(capacities, lengths, strict=True))
        assert nodes * scaled.unit * Fraction(used, core.distance_sum(problem, lengths)) >= found.algbw


def test_distances_are_added_up(core: Core) -> None:
    problem = core.Problem(4, [0, 1, 2, 3, 0], [1, 2, 3, 0, 2], [1] * 5, [0, 1, 3])
    # 0 -> 1: 5, 0 -> 3: 1 + 3, 1 -> 3: 2 + 3, 1 -> 0: 2 + 3 + 7, 3 -> 0: 7, 3 -> 1: 7 + 5
    assert core.distance_sum(problem, [5, 2, 3, 7, 1]) == 5 + 4 + 5 + 12 + 7 + 12
    with pytest.raises(ValueError, match="cannot reach"):
        core.distance_sum(core.Problem(3, [0, 1], [1, 0], [1, 1], [0, 1, 2]), [1, 1])


def test_a_large_network_is_bounded_within_some_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 100)
    topology = build_topology("generalized-kautz:nodes=256,degree=4")
    best = optimum(topology, "all-to-all")
    assert not best.is_optimal
    assert best.residual < 0.03
    with pytest.raises(InputError, match="too large, so only a rate and a bound are known, and no schedule"):
        generate(topology, "all-to-all")


@pytest.mark.slow
def test_the_flow_of_the_first_row_of_table_4() -> None:
    found = optimum("generalized-kautz:nodes=1024,degree=4", "all-to-all")
    assert found.residual < 0.03
    assert float(found.algbw) / 1024 < 8.015e-4
    assert float(found.bound.algbw) / 1024 > 8.005e-4


def test_a_network_that_is_too_large_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 7)
    with pytest.raises(InputError, match="has more than 3 columns, and the network more than 7 compute nodes"):
        optimum("ring:nodes=8", "all-to-all")
    assert optimum("ring:nodes=7", "all-to-all").residual < 0.1
    with pytest.raises(InputError, match="more than 3 columns; so many cannot be solved"):
        optimum("ring:nodes=3", Demand("all-to-all", matrix=[[0, 1, 0], [0, 0, 2], [0, 0, 0]]))


@examples(60)
@given(networks(), st.integers(0, 40))
def test_the_refinement_stops_only_if_there_are_too_many_classes(topology: Topology, most: int) -> None:
    sent = dict(zip(topology.compute, NodeDemand(Collective.ALL_TO_ALL).sent(topology), strict=True))
    for orbits in (Orbits.of(topology), Orbits.of(topology, Symmetry(()))):
        classes = FlowClasses.of(topology, sent, orbits)
        few = FlowClasses.few(topology, sent, orbits, most)
        assert (few is None) == (classes.columns > most)
        if few is not None:
            assert np.array_equal(few.of_pair, classes.of_pair)
