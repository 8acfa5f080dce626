"""Lengths of links and weights of sets that bound an allreduce along trees."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_conditions import question_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import (
    ProofError,
    TreeDistancesProof,
    TreeLengthsProof,
    proof_document,
    proof_from_document,
)
from forestcoll.solver.allreduce.tree_packing.distances import distance_proof
from forestcoll.topology import Node, NodeKind, Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import duplex_networks, examples, with_abilities

RING = build_topology("ring:nodes=4")
ALLREDUCE = NodeDemand(Collective.ALLREDUCE)
ONE = Fraction(1)


def of_costs(pairs: dict[tuple[int, int], int]) -> Topology:
    """Return four compute nodes with these full-duplex links and bandwidths."""
    builder = TopologyBuilder("four")
    for name in "abcd":
        builder.add_compute(name)
    for (one, other), bandwidth in pairs.items():
        builder.add_duplex("abcd"[one], "abcd"[other], bandwidth)
    return builder.build()


def of_ring(*cuts: tuple[tuple[int, ...], Fraction], lengths: tuple[int, ...] = (1,) * 8) -> TreeDistancesProof:
    return replace(TreeDistancesProof.of(RING, lengths), cuts=cuts)


@examples(60)
@given(duplex_networks(most=6), st.data())
def test_the_bound_of_distances_is_valid_and_near_the_bound_of_least_trees(
    topology: Topology, data: st.DataObject
) -> None:
    """The verifier and the proof compute the same. No tree is shorter than the weight of all sets."""
    topology = with_abilities(
        topology, data.draw(st.lists(st.sampled_from([(True, True), (False, False)]), max_size=3))
    )
    pairs = {ends: data.draw(st.integers(0, 4)) for ends in ((link.source, link.target) for link in topology.links)}
    lengths = tuple(1 + pairs[min(ends, ends[::-1])] for ends in pairs)
    found = distance_proof(topology, tuple(map(Fraction, lengths)), SILENT)
    assert found is not None
    bound = found.algbw(topology, ALLREDUCE)
    assert proven(found, question_of(topology, ALLREDUCE)) == bound
    assert proof_from_document(proof_document(found), topology, "certificate") == found
    exact = TreeLengthsProof.of(topology, lengths).algbw(topology, ALLREDUCE)
    assert exact <= bound <= 2 * exact


STAR = of_costs({(place, 3): 1 for place in range(3)})


def of_star(*cuts: tuple[tuple[int, ...], Fraction]) -> TreeDistancesProof:
    return replace(TreeDistancesProof.of(STAR, (1,) * 6), cuts=cuts)


def one_link_slower() -> Topology:
    return replace(RING, links=(replace(RING.links[0], bandwidth=Fraction(1, 2)), *RING.links[1:]))


def with_hub() -> Topology:
    return replace(RING, nodes=(*RING.nodes, Node("hub", NodeKind.SWITCH, multicast=True)))


WRONG: list[tuple[TreeDistancesProof, Topology, NodeDemand, str]] = [
    (of_ring(((0,), ONE)), RING, NodeDemand(), "distances bound an allreduce only, and this is an allgather"),
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
    (of_ring(((0,), 0 * ONE)), RING, ALLREDUCE, "weight.* is 0 or less"),
    (
        of_star(((0, 2), 2 * ONE), ((0, 1), 2 * ONE)),
        STAR,
        replace(ALLREDUCE, ranks=(0, 1, 2)),
        "the sets between node 0 and node 3 weigh more",
    ),
]


@pytest.mark.parametrize(("proof", "topology", "demand", "words"), WRONG)
def test_the_failed_condition_is_named(
    proof: TreeDistancesProof, topology: Topology, demand: NodeDemand, words: str
) -> None:
    with pytest.raises(UnprovenError, match=words):
        proven(proof, question_of(topology, demand))
    with pytest.raises(ProofError, match=words):
        proof.algbw(topology, demand)


def with_dead_end() -> Topology:
    """Return the ring with a switch that a link leads to and no link leaves."""
    link = replace(RING.links[0], target=4)
    return replace(RING, nodes=(*RING.nodes, Node("end", NodeKind.SWITCH)), links=(*RING.links, link))


def _both_ways(*pairs: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(ends for one, other in pairs for ends in ((one, other), (other, one)))


FREE = (((0, 1), ONE),)
"""The set for the ring if the links between nodes 0 and 1 have no length; the other two nodes are outside."""


@pytest.mark.parametrize(
    ("proof", "topology", "value"),
    [
        (of_ring(((0,), ONE)), RING, 4),
        (of_ring(((0,), ONE)), with_dead_end(), 4),
        (of_ring(*FREE, lengths=tuple(int({link.source, link.target} != {0, 1}) for link in RING.links)), RING, 3),
        (TreeDistancesProof(_both_ways((0, 1), (0, 3), (2, 3)), (0, 0, 2, 2, 2, 2), (((0, 1, 2), 2 * ONE),)), RING, 2),
    ],
    ids=["all links", "a dead end", "some links", "links of length 0"],
)
def test_the_bound_is_the_sum_of_lengths_over_the_weight(
    proof: TreeDistancesProof, topology: Topology, value: int
) -> None:
    assert proven(proof, question_of(topology, ALLREDUCE)) == value
    assert proof.algbw(topology, ALLREDUCE) == value


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (
            TreeDistancesProof(_both_ways((0, 1), (0, 1)), (1,) * 4, (((0,), ONE),)),
            "a length is negative, or a link has two lengths",
        ),
        (of_ring(((0,), ONE), ((0, 9), ONE)), "set 1 contains a number that is not the number of a node"),
        (of_ring(((0,), ONE), ((0, 0), ONE)), "set 1 contains a node twice"),
        (
            of_ring(*(((0,), Fraction(1, 10**1500 + place)) for place in (1, 3, 7))),
            "the common denominator of its numbers has more than 4000 digits",
        ),
    ],
)
def test_numbers_that_no_search_finds_are_refused(proof: TreeDistancesProof, message: str) -> None:
    with pytest.raises(UnprovenError) as caught:
        proven(proof, question_of(RING, ALLREDUCE))
    assert str(caught.value) == message


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
