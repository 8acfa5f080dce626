"""Flows as sums of paths."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.solver.flows.max_flow import MaxFlow
from forestcoll.solver.flows.paths import GRID, exact_paths, rounded_paths, whole_paths
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks
from oracles import subsets


def test_a_cycle_delivers_nothing() -> None:
    ring = build_topology("ring:nodes=4,one_way=true")
    flow = [Fraction(3), Fraction(1), Fraction(1), Fraction(1)]  # 0 -> 1 carries 2 more than the cycle
    assert exact_paths(ring, flow, 0, {1: Fraction(2)}) == [((0, 1), Fraction(2))]


def test_a_flow_that_is_not_exact_is_rounded() -> None:
    ring = build_topology("ring:nodes=4")
    flow = [0.0] * len(ring.links)
    for place, link in enumerate(ring.links):
        flow[place] = {(0, 1): 0.2000001, (0, 3): 0.1, (1, 2): 0.05, (3, 2): 0.1}.get((link.source, link.target), 0.0)
    found = rounded_paths(ring, flow, 0, {1: Fraction(1, 7), 2: Fraction(1, 7), 3: Fraction(1, 7)})
    totals = dict.fromkeys((1, 2, 3), Fraction(0))
    for nodes, share in found:
        totals[nodes[-1]] += share
        assert (share * 7 * GRID).denominator == 1
    assert set(totals.values()) == {Fraction(1, 7)}


def test_a_target_that_a_flow_misses_gets_a_short_path() -> None:
    ring = build_topology("ring:nodes=4")
    assert rounded_paths(ring, [0.0] * len(ring.links), 0, {1: Fraction(1)}) == [((0, 1), Fraction(1))]
    assert whole_paths(ring, [0] * len(ring.links), 0, {1: 1}) == []


@examples(60)
@given(networks(most=6), st.data())
def test_a_max_flow_equals_the_least_cut(topology: Topology, data: st.DataObject) -> None:
    source, sink = data.draw(st.permutations(topology.compute))[:2]
    arcs = [(link.source, link.target, link.bandwidth.numerator) for link in topology.links]
    found = MaxFlow(len(topology.nodes), arcs, source, sink)
    sizes = [
        sum(room for tail, head, room in arcs if tail in inside and head not in inside)
        for inside in subsets(range(len(topology.nodes)))
        if source in inside and sink not in inside
    ]
    assert found.value == min(sizes)
    assert found.value == sum(room for tail, head, room in arcs if tail in found.inside and head not in found.inside)
    assert all(0 <= sent <= room for sent, (_, _, room) in zip(found.flow, arcs, strict=True))
    for node in range(len(topology.nodes)):
        kept = sum(
            sent * ((head == node) - (tail == node)) for sent, (tail, head, _) in zip(found.flow, arcs, strict=True)
        )
        assert kept == found.value * ((node == sink) - (node == source))
