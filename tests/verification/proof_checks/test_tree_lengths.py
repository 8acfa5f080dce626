"""Lengths of links that bound an allreduce along trees."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from test_conditions import question_of
from test_values import LINE, hub, with_dead_end

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import ProofError, TreeLengthsProof, proof_document, proof_from_document
from forestcoll.schedule.proof.tree_dual import Roles
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.topology import Node, NodeKind, Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.proof_checks import tree_lengths
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.distances import least_sums
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import examples, ranks_for, uneven_networks, with_abilities

RING = build_topology("ring:nodes=4")
ALLREDUCE = NodeDemand(Collective.ALLREDUCE)


@examples(150)
@given(st.data())
def test_the_judge_and_the_proof_compute_the_same_bound(data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3))
    topology = with_abilities(data.draw(uneven_networks(most=6)), flags)
    places = data.draw(st.none() | ranks_for(topology))
    demand = NodeDemand(Collective.ALLREDUCE, ranks=places and tuple(topology.compute[place] for place in places))
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=len(topology.links), max_size=len(topology.links)))
    proof = TreeLengthsProof.of(topology, tuple(lengths))
    try:
        expected = proof.algbw(topology, demand)
    except ProofError:
        with pytest.raises(UnprovenError):
            proven(proof, question_of(topology, demand))
    else:
        assert proven(proof, question_of(topology, demand)) == expected


@examples(40)
@given(uneven_networks(most=5), st.data())
def test_no_lengths_prove_a_bound_below_the_optimum(topology: Topology, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=len(topology.links), max_size=len(topology.links)))
    bound = TreeLengthsProof.of(topology, tuple(lengths)).algbw(topology, ALLREDUCE)
    plan = allreduce_optimum(topology, Roles.of(topology)).plan
    assume(plan is not None)  # bandwidths that are too far apart
    assert plan is not None
    assert plan.rate <= bound


UNPROVEN = [
    (TreeLengthsProof.of(RING, (1,) * 8), NodeDemand(), "bound an allreduce only, and this is an allgather"),
    (TreeLengthsProof.of(RING, (-1, *(1,) * 7)), ALLREDUCE, "a length is negative"),
    (TreeLengthsProof(((0, 2),), (1,)), ALLREDUCE, "a length is given for a link that does not exist"),
    (TreeLengthsProof((), ()), ALLREDUCE, "a tree has length 0, or there is no tree"),
]


@pytest.mark.parametrize(("proof", "demand", "words"), UNPROVEN)
def test_the_failed_condition_is_named(proof: TreeLengthsProof, demand: NodeDemand, words: str) -> None:
    with pytest.raises(ProofError, match=words):
        proof.algbw(RING, demand)
    with pytest.raises(UnprovenError, match=words):
        proven(proof, question_of(RING, demand))


def test_a_link_has_one_length() -> None:
    with pytest.raises(UnprovenError, match=r"^a link has two lengths$"):
        proven(TreeLengthsProof(((0, 1), (0, 1)), (1, 1)), question_of(RING, ALLREDUCE))


def letter_h() -> Topology:
    """Return four compute nodes at the ends of an H, in an order in which neighbours are not adjacent, and two hubs."""
    builder = TopologyBuilder("H")
    for name in "abcdxy":
        builder.add_compute(name)
    for one, other in zip("adxyy", "xxybc", strict=True):
        builder.add_duplex(one, other, 1)
    return builder.build()


def two_switches() -> Topology:
    """Return three nodes that all send to a switch that adds up. It sends to one that copies, which sends to all."""
    builder = TopologyBuilder("two switches")
    for name in "abc":
        builder.add_compute(name)
    builder.add_switch("adds", aggregation=True)
    builder.add_switch("copies", multicast=True)
    for name in "abc":
        builder.add_link(name, "adds", 1)
        builder.add_link("copies", name, 1)
    builder.add_link("adds", "copies", 1)
    return builder.build()


def without_a_link_back() -> Topology:
    return replace(RING, nodes=RING.nodes[:2], links=RING.links[:1])


def with_lonely_hub() -> Topology:
    """Return the ring with a switch that can copy and add up, and that no link joins."""
    return replace(RING, nodes=(*RING.nodes, Node("hub", NodeKind.SWITCH, multicast=True, aggregation=True)))


@pytest.mark.parametrize(
    ("topology", "ranks", "value"),
    [
        (letter_h(), (0, 1, 2, 3), "1"),
        (letter_h(), (0, 3), "5/2"),
        (hub(), None, "27/8"),
        (hub(multicast=True), None, "27/7"),
        (hub(aggregation=True), None, "27/7"),
        (hub(multicast=True, aggregation=True), None, "9/2"),
        (with_lonely_hub(), None, "4/3"),
        (with_dead_end(), None, "17/4"),
        (two_switches(), None, "7/8"),
    ],
)
def test_trees_of_both_phases_branch_at_nodes_that_copy_and_add_up(
    topology: Topology, ranks: tuple[int, ...] | None, value: str
) -> None:
    proof, demand = TreeLengthsProof.of(topology, (1,) * len(topology.links)), replace(ALLREDUCE, ranks=ranks)
    assert str(proof.algbw(topology, demand)) == str(proven(proof, question_of(topology, demand))) == value


def test_without_a_link_back_there_is_no_tree() -> None:
    proof, topology = TreeLengthsProof(((0, 1),), (1,)), without_a_link_back()
    with pytest.raises(UnprovenError, match=r"^a tree has length 0, or there is no tree$"):
        proven(proof, question_of(topology, ALLREDUCE))


def test_a_length_may_be_0() -> None:
    proof = TreeLengthsProof(((0, 1), (1, 2)), (0, 1))
    assert proven(proof, question_of(LINE, ALLREDUCE)) == proof.algbw(LINE, ALLREDUCE) == 2


def test_the_most_members_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = TreeLengthsProof.of(RING, (1,) * 8)
    monkeypatch.setattr(tree_lengths, "MOST_MEMBERS", 4)
    assert proven(proof, question_of(RING, ALLREDUCE)) == Fraction(4, 3)
    monkeypatch.setattr(tree_lengths, "MOST_MEMBERS", 3)
    with pytest.raises(UnprovenError, match=r"^4 nodes take part, and least trees need 3 at most$"):
        proven(proof, question_of(RING, ALLREDUCE))


def test_sums_at_several_nodes_grow_along_links() -> None:
    """A sum that begins at a node counts only if no other sum arrives there with less."""
    arcs = {1: [(0, 1), (2, 9)], 0: [(2, 3)], 4: [(0, 1)]}
    assert least_sums({0: 5, 1: 0, 3: 7}, arcs) == {1: 0, 0: 1, 2: 4, 3: 7}


def test_more_than_twelve_members_are_refused() -> None:
    large = build_topology("ring:nodes=13")
    proof = TreeLengthsProof.of(large, (1,) * 26)
    with pytest.raises(ProofError, match="13 nodes take part"):
        proof.algbw(large, ALLREDUCE)
    with pytest.raises(UnprovenError, match="13 nodes take part"):
        proven(proof, question_of(large, ALLREDUCE))


def test_a_changed_length_of_a_file_is_refused_or_proves_less() -> None:
    schedule = generate("dgx-h100:boxes=2,gpus=3", "allreduce", ranks="0-1,3-4")
    links = len(schedule.topology.links)
    right = TreeLengthsProof.of(schedule.topology, (1,) * links)
    best = right.algbw(schedule.topology, schedule.demand)
    assert schedule.bound is not None
    weak = replace(schedule, bound=replace(schedule.bound, algbw=best, proof=right))
    assert verify(weak).ok
    wrong = replace(schedule, bound=replace(schedule.bound, algbw=best - Fraction(1, 7), proof=right))
    fault = verify(wrong).fault
    assert fault is not None
    assert fault.rule == "certificate-bound"


def test_a_document_is_read_back() -> None:
    proof = TreeLengthsProof.of(RING, (3, 0, 1, 1, 2, 1, 1, 5))
    document = proof_document(proof)
    assert document["kind"] == "tree-lengths"
    assert proof_from_document(document, RING, "x") == proof
