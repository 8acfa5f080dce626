"""The optimum of all-to-all, gather, scatter and demand matrices, compared with definitions and published values."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow_demands import demands
from flow_oracles import pairs_of, plain_optimum
from forestcoll.algorithms.flows import Flows
from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.solver.exact_lp import linear_program
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.flows.value import FlowOptimum
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.orbits import Orbits
from mixed_networks import random_network
from networks import SMALL, examples, linked, networks
from oracles import exit_bandwidth, subsets

ALL_TO_ALL = NodeDemand(Collective.ALL_TO_ALL)


def solved(topology: Topology, demand: NodeDemand) -> FlowOptimum:
    """Return the optimum after a check of its proof by the definition."""
    found = flow_search(topology, demand)
    assert found.is_optimal
    assert found.bound.proof.algbw(topology, demand) == found.algbw
    return found


@examples(60)
@given(st.data(), networks(most=6, kinds=st.just(SMALL)))
def test_without_paths_the_optimum_is_the_same(data: st.DataObject, topology: Topology) -> None:
    demand = data.draw(demands(topology))
    found, alone = flow_search(topology, demand), flow_search(topology, demand, paths=False)
    assert (alone.algbw, alone.bound) == (found.algbw, found.bound)
    assert alone.is_reached


@pytest.mark.parametrize("kind", ["leaf-spine", "rails"])
def test_exact_flows_of_large_programs_are_recognised(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = random_network(kind, "2", 48)
    exact = solved(topology, ALL_TO_ALL)
    monkeypatch.setattr(linear_program, "MOST_EXACT_COLUMNS", -1)
    found = flow_search(topology, ALL_TO_ALL, paths=False)
    assert (found.algbw, found.paths, found.is_reached) == (exact.algbw, (), True)
    assert flow_search(topology, ALL_TO_ALL).paths


def full_ring(nodes: int) -> Fraction:
    return Fraction(2, sum(min(step, nodes - step) for step in range(nodes)))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # On a one-way ring, data travels a mean of (1 + … + N-1)/N links; on a full-duplex ring, the shorter direction.
        *((f"ring:nodes={nodes},one_way=true", Fraction(2, nodes * (nodes - 1))) for nodes in (3, 6, 9)),
        *((f"ring:nodes={nodes}", full_ring(nodes)) for nodes in (3, 6, 9)),
        *((f"complete:nodes={nodes}", Fraction(1)) for nodes in (2, 6)),
        *((f"hypercube:dim={dim}", Fraction(2, 2**dim)) for dim in (1, 4)),
        ("dgx-a100:boxes=2", Fraction(25, 8)),
        ("dgx-a100:boxes=1", Fraction(300, 7)),
        ("torus:dims=4x4", Fraction(1, 8)),
        ("torus:dims=4x4x4", Fraction(1, 32)),
        ("dgx-h100:boxes=64", Fraction(50, 504)),
    ],
)
def test_known_rates(spec: str, expected: Fraction) -> None:
    topology = build_topology(spec)
    assert solved(topology, ALL_TO_ALL).algbw / len(topology.compute) == expected


def test_a_chain_is_limited_by_its_middle() -> None:
    chain = linked("0 1 2 3 4 5", "0=1 1=2 2=3 3=4 4=5")
    assert solved(chain, ALL_TO_ALL).algbw == Fraction(6, 9)


def test_shifted_rings_of_a_thousand_nodes_have_the_published_time() -> None:
    # Table 4: 10738 us for 1 MiB per node at 100 Gb/s, a quarter of it over each link.
    best = optimum("shifted-ring:nodes=1024", "all-to-all")
    assert best.is_optimal
    found = best.algbw / 1024
    assert found == Fraction(2, 65537)
    assert round(2**20 * 8 / 100e3 * 4 / 1024 / float(found)) == 10738


def test_the_line_graph_of_a_complete_bipartite_graph_has_the_published_rate() -> None:
    pairs = [(one, 4 + other) for one in range(4) for other in range(4)]
    edges = pairs + [(other, one) for one, other in pairs]
    numbered = list(product(enumerate(edges), repeat=2))
    links = (f"{one}>{other}" for (one, (_, middle)), (other, (start, _)) in numbered if middle == start)
    line_graph = linked(" ".join(map(str, range(32))), " ".join(links))
    assert solved(line_graph, ALL_TO_ALL).algbw == 32 * Fraction(4, 70)  # Table 7: 5.71e-2


@examples(200)
@given(st.data(), networks(most=6, kinds=st.just(SMALL)))
def test_the_optimum_equals_that_of_a_plain_linear_program(data: st.DataObject, topology: Topology) -> None:
    demand = data.draw(demands(topology))
    found = solved(topology, demand).algbw
    assert found.denominator < 10**5
    assert Fraction(plain_optimum(topology, demand)).limit_denominator(10**5) == found


def cuts(topology: Topology, demand: NodeDemand) -> Iterator[Fraction]:
    """Yield what each cut allows: the bandwidth that leaves it by the data that must leave it."""
    pairs = pairs_of(topology, demand)
    for inside in subsets(range(len(topology.nodes))):
        leaving = sum(part for (source, target), part in pairs.items() if source in inside and target not in inside)
        if leaving:
            yield exit_bandwidth(topology, inside) / leaving


@examples(40)
@given(st.data(), networks(most=6))
def test_the_optimum_is_within_every_cut_and_does_not_depend_on_symmetry(
    data: st.DataObject, topology: Topology
) -> None:
    demand = data.draw(demands(topology))
    found = flow_search(topology, demand)
    if not found.is_optimal:  # bandwidths too far apart for floating point
        assert found.algbw < found.bound.algbw
        return
    if demand.root is None and demand.ranks is None:
        assert flow_search(topology, demand, orbits=Orbits.of(topology, Symmetry(()))).algbw == found.algbw
    assert found.algbw <= min(cuts(topology, demand))


@examples(40)
@given(st.data(), networks(most=6))
def test_a_gather_and_a_scatter_reach_a_cut(data: st.DataObject, topology: Topology) -> None:
    collective = data.draw(st.sampled_from([Collective.GATHER, Collective.SCATTER]))
    demand = NodeDemand(collective, data.draw(st.sampled_from(topology.compute)))
    assert solved(topology, demand).algbw == min(cuts(topology, demand))


def test_a_demand_between_two_nodes_is_a_max_flow() -> None:
    matrix: list[list[object]] = [[0, 0, 1, 0], [0] * 4, [0] * 4, [0] * 4]
    best = optimum("complete:nodes=4,bandwidth=5", Demand("all-to-all", matrix=matrix))
    assert best.algbw == 15
    assert {len(path.nodes) for path in best.paths} == {2, 3}


def test_equal_parts_need_no_matrix() -> None:
    equal = [["1/3"] * 3] * 3
    best = optimum("ring:nodes=3", Demand("all-to-all", matrix=equal))
    assert best.demand == NodeDemand(Collective.ALL_TO_ALL)
    assert best.algbw == 3
    shards = {0: "1/4", 1: "1/4", 2: "1/2"}
    gather = optimum("ring:nodes=3", Demand("gather", root=0, shards=shards))
    assert gather.demand.matrix is not None
    assert gather.algbw == Fraction(8, 3)
    halves: list[list[object]] = [[0, "1/4", "1/2"], [0] * 3, [0] * 3]
    scatter = optimum("ring:nodes=3", Demand("scatter", root=0, matrix=halves))
    assert scatter.algbw == Fraction(8, 3)


def test_idle_nodes_relay() -> None:
    assert optimum("torus:dims=4x4", "all-to-all:ranks=0-3").algbw == Fraction(16, 3)
    assert optimum("ring:nodes=6", "all-to-all:ranks='0,3'").algbw == 4


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"collective": "allreduce"}, "flows is not a method for an allreduce"),
        ({"collective": "gather"}, "a gather needs a root"),
        ({"root": 0}, "an all-to-all has no root"),
        ({"matrix": [[0, 1], [1, 0]]}, "has 2 rows; expected one for each of the 3 nodes"),
        ({"matrix": [[0, 1, 0], [1, 0], [0, 0, 0]]}, "row 1 has 2 numbers; expected 3"),
        ({"matrix": [[0, -1, 0], [0] * 3, [0] * 3]}, "row 0, column 1 is -1; it must be 0 or more"),
        ({"matrix": [[0, "x", 0], [0] * 3, [0] * 3]}, "row 0, column 1: 'x' is not a number"),
        ({"matrix": [[1, 0, 0], [0] * 3, [0] * 3]}, "no node sends data to another"),
        ({"collective": "gather", "root": 0, "matrix": [[0, 1, 0], [0] * 3, [0] * 3]}, "data goes to the root only"),
        (
            {"collective": "scatter", "root": 0, "matrix": [[0] * 3, [1, 0, 0], [0] * 3]},
            "data comes from the root only",
        ),
        ({"shards": {0: 1}}, "an all-to-all has no shards of different sizes"),
        ({"collective": "gather", "root": 0, "shards": {0: 1}, "matrix": [[0] * 3] * 3}, "exclude each other"),
    ],
)
def test_invalid_arguments_raise(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        optimum("ring:nodes=3", Demand(**{"collective": "all-to-all", **keywords}), Flows())  # type: ignore[arg-type]


def test_a_one_port_network_has_no_flows() -> None:
    document = build_topology("ring:nodes=3")
    object.__setattr__(document, "port_model", "one-port")
    with pytest.raises(NoSolutionError, match="one-port"):
        optimum(document, "all-to-all")
