"""Lengths of links and weights of sets that bound an allreduce along trees."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.allreduce.tree_packing.distances import distance_proof
from forestcoll.collective import Collective
from forestcoll.progress import SILENT
from forestcoll.proof import ProofError, TreeDistancesProof, TreeLengthsProof, proof_document, proof_from_document
from forestcoll.request import Demand
from forestcoll.solver.generate import generate
from forestcoll.topology import Node, NodeKind, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import Question, UnprovenError
from networks import duplex_networks, examples, with_abilities

RING = build_topology("ring:nodes=4")
ALLREDUCE = Demand(Collective.ALLREDUCE)
ONE = Fraction(1)


def question_of(topology: Topology, demand: Demand = ALLREDUCE) -> Question:
    parts = demand.parts(topology)
    return Question(Network(topology), demand.collective, demand.members(topology), parts, demand.root)


def of_ring(*cuts: tuple[tuple[int, ...], Fraction], lengths: tuple[int, ...] = (1,) * 8) -> TreeDistancesProof:
    return replace(TreeDistancesProof.of(RING, lengths), cuts=cuts)


@examples(60)
@given(duplex_networks(most=6), st.data())
def test_the_bound_of_distances_is_valid_and_near_the_bound_of_least_trees(
    topology: Topology, data: st.DataObject
) -> None:
    """The judge and the proof compute the same. No tree is shorter than the weight of all sets."""
    topology = with_abilities(
        topology, data.draw(st.lists(st.sampled_from([(True, True), (False, False)]), max_size=3))
    )
    pairs = {ends: data.draw(st.integers(0, 4)) for ends in ((link.source, link.target) for link in topology.links)}
    lengths = tuple(1 + pairs[min(ends, ends[::-1])] for ends in pairs)
    found = distance_proof(topology, tuple(map(Fraction, lengths)), SILENT)
    assert found is not None
    bound = found.algbw(topology, ALLREDUCE)
    assert proven(found, question_of(topology)) == bound
    assert proof_from_document(proof_document(found), topology, "certificate") == found
    exact = TreeLengthsProof.of(topology, lengths).algbw(topology, ALLREDUCE)
    assert exact <= bound <= 2 * exact


def one_link_slower() -> Topology:
    return replace(RING, links=(replace(RING.links[0], bandwidth=Fraction(1, 2)), *RING.links[1:]))


def with_hub() -> Topology:
    return replace(RING, nodes=(*RING.nodes, Node("hub", NodeKind.SWITCH, multicast=True)))


WRONG: list[tuple[TreeDistancesProof, Topology, Demand, str]] = [
    (of_ring(((0,), ONE)), RING, Demand(), "distances bound an allreduce only, and this is an allgather"),
    (of_ring(((0,), ONE)), one_link_slower(), ALLREDUCE, "a link has no opposite link"),
    (of_ring(((0,), ONE)), with_hub(), ALLREDUCE, "a switch"),
    (of_ring(((0,), ONE), lengths=(1, *(2,) * 7)), RING, ALLREDUCE, "opposite links have different lengths"),
    (of_ring(((0,), ONE), lengths=(-1,) * 8), RING, ALLREDUCE, "a length is negative"),
    (of_ring(((0,), -ONE)), RING, ALLREDUCE, "0 or less"),
    (of_ring(((0, 1, 2, 3), ONE)), RING, ALLREDUCE, "contains all nodes that take part"),
    (of_ring(((0,), ONE / 2), ((1,), ONE / 2)), RING, ALLREDUCE, "no node that takes part is in all sets"),
    (of_ring(), RING, ALLREDUCE, "there is no set"),
    (of_ring(((0,), ONE), ((0, 3), ONE)), RING, ALLREDUCE, "the sets between node 0 and node 1 weigh more"),
    (TreeDistancesProof(((0, 2), (2, 0)), (1, 1), (((0,), ONE),)), RING, ALLREDUCE, "a link that does not exist"),
]


@pytest.mark.parametrize(("proof", "topology", "demand", "words"), WRONG)
def test_the_failed_condition_is_named(
    proof: TreeDistancesProof, topology: Topology, demand: Demand, words: str
) -> None:
    with pytest.raises(UnprovenError, match=words):
        proven(proof, question_of(topology, demand))
    with pytest.raises(ProofError, match=words):
        proof.algbw(topology, demand)


def test_a_heavier_set_in_a_file_is_refused() -> None:
    schedule = generate("dgx-h100:boxes=2", "allreduce", ranks="0-6,8-14")
    assert schedule.bound is not None
    proof = schedule.bound.proof
    assert isinstance(proof, TreeDistancesProof)
    (inside, weight), *others = proof.cuts
    heavier = replace(proof, cuts=((inside, weight + 1), *others))
    report = verify(replace(schedule, bound=replace(schedule.bound, proof=heavier)))
    assert report.fault is not None
    assert "weigh more than their distance" in report.fault.message
