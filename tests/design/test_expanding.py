"""Expansions of networks and schedules of the user, and searches with them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest

from forestcoll import expand, find_topologies, write_schedule
from forestcoll.algorithms.generate import generate
from forestcoll.design import base_network
from forestcoll.design.expanding import bandwidth_of
from forestcoll.design.measure import Cost
from forestcoll.design.realisation import schedule_of, topology_of
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import build_topology
from forestcoll.verification import verify
from refusal import refusal

CHAINS = [
    ["line-graph"],
    ["line-graph=2"],
    ["degree=2"],
    ["degree=2", "breadth-first"],
    ["power=2"],
    ["product=ring:nodes=3"],
    ["parallel=3"],
    ["parallel=2", "line-graph"],
    ["line-graph", "degree=2"],
]


def test_a_network_is_expanded_with_a_verified_schedule_of_the_predicted_cost() -> None:
    graph = nx.petersen_graph()
    nx.set_edge_attributes(graph, 1, "bandwidth")
    for by in CHAINS:
        network = expand(graph, by)
        schedule = schedule_of(network, "allreduce")  # verifies, and compares the cost
        assert schedule.topology.name == network.name, by
        assert len(schedule.topology.nodes) == network.nodes, by
    network = expand("torus:dims=3x3,bandwidth=25/2", ["line-graph", "parallel=2"])
    schedule = schedule_of(network, bandwidth=bandwidth_of(network))
    assert {link.bandwidth for link in schedule.topology.links} == {25}
    assert topology_of(network).links[0].bandwidth == 2


def ring_schedule(nodes: int) -> StepSchedule:
    made: StepSchedule = generate(f"ring:nodes={nodes}", method="ring")
    return made


def test_a_schedule_of_the_user_is_expanded(tmp_path: Path) -> None:
    write_schedule(ring_schedule(5), tmp_path / "ring.json")
    base = base_network(tmp_path / "ring.json")
    assert base.cost == Cost(4, Fraction(4, 5))  # NCCL's ring takes N - 1 steps
    for by in (each for each in CHAINS if "breadth-first" not in each):
        network = expand(base, by)
        assert network.cost.steps >= 4 or "product" in by[0], by
        schedule_of(network, "allreduce")


def test_the_search_uses_base_networks_of_the_user() -> None:
    base = base_network("circulant:nodes=39,offsets=1+4+10+16")
    assert base in find_topologies(39, 8, bases=[base]).members
    assert base not in find_topologies(39, 8).members
    line = find_topologies(312, 8, bases=[base]).members
    assert f"L({base.name})" in {member.name for member in line}


@pytest.mark.parametrize(
    ("base", "by", "message"),
    [
        ("dgx-a100", ["degree=2"], "is a switch; give a network without switches"),
        ("mesh:dims=3x3", ["degree=2"], "expansions need a regular network"),
        ("ring:nodes=4", ["degre=2"], "expansion 'degre=2' is unknown; expected line-graph=N, degree=N, power=N"),
        ("ring:nodes=4", ["degree=1"], "expansion degree: the number is '1'; expected an integer from 2 to 16384"),
        ("ring:nodes=4", ["degree=x"], "expansion degree: the number is 'x'"),
        ("ring:nodes=4", ["power"], "expansion power: the number is ''; expected an integer from 2 to 64"),
        ("ring:nodes=4", ["product"], "expected product=BASE"),
        ("ring:nodes=4", ["product=ring:nodes=3,bandwidth=2"], "a product needs factors with equal links"),
        ("ring:nodes=4", ["bidirectional=2"], "bidirectional has no value"),
        ("ring:nodes=4,one_way=true", ["line-graph"], "links from each node to two or more nodes"),
        ("ring:nodes=4", ["line-graph=16"], "the expanded network has 32768 nodes of degree 2"),
    ],
)
def test_an_impossible_expansion_is_refused(base: str, by: list[str], message: str) -> None:
    assert message in refusal(expand, base, by)


def test_a_schedule_that_is_no_allgather_in_steps_or_wrong_is_refused() -> None:
    scatter = generate("ring:nodes=4", "reduce-scatter", "bfb")
    assert "the schedule is not an allgather of steps" in refusal(base_network, scatter)
    wrong = replace(ring_schedule(4), topology=build_topology("ring:nodes=5"))
    assert verify(wrong).fault is not None
    assert "the schedule is wrong" in refusal(base_network, wrong)
