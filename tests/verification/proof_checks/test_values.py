"""The bounds of small proofs on a network without any symmetry: values by hand, and those of the proof itself."""

from dataclasses import replace
from fractions import Fraction

import pytest
from test_conditions import question_of

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import (
    CutProof,
    LengthsProof,
    PartitionProof,
    Proof,
    ProofError,
    ReceiptProof,
    TreeDualProof,
    TreeLengthsProof,
    WeightedCut,
)
from forestcoll.topology import Node, NodeKind, Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import UnprovenError


def line() -> Topology:
    """Return three nodes in a line, with another bandwidth of each link."""
    builder = TopologyBuilder("line")
    first, second, third = (builder.add_compute(name) for name in "abc")
    for source, target, bandwidth in ((first, second, 3), (second, first, 5), (second, third, 2), (third, second, 7)):
        builder.add_link(source, target, bandwidth)
    return builder.build()


LINE = line()
SHARDS = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
CUTS: list[tuple[tuple[int, ...], NodeDemand, str]] = [
    ((0, 1), NodeDemand(), "3"),
    ((1,), NodeDemand(), "21"),
    ((0,), NodeDemand(shards=SHARDS), "6"),
    ((0, 1), NodeDemand(Collective.REDUCE_SCATTER), "6"),
    ((0, 1), NodeDemand(Collective.ALLREDUCE), "2"),
    ((1,), NodeDemand(Collective.ALLREDUCE), "7"),
    ((0,), NodeDemand(Collective.BROADCAST, root=0), "3"),
    ((0, 1), NodeDemand(Collective.REDUCE, root=2), "2"),
    ((0,), NodeDemand(Collective.GATHER, root=2), "9"),
    ((0, 1), NodeDemand(Collective.GATHER, root=2), "3"),
    ((0,), NodeDemand(Collective.SCATTER, root=0), "9/2"),
    ((0, 1), NodeDemand(Collective.SCATTER, root=0), "6"),
]


@pytest.mark.parametrize(("inside", "demand", "value"), CUTS)
def test_a_cut_proves_its_exit_bandwidth_over_the_data_that_must_leave(
    inside: tuple[int, ...], demand: NodeDemand, value: str
) -> None:
    assert str(proven(CutProof(inside), question_of(LINE, demand))) == value
    assert str(CutProof(inside).algbw(LINE, demand)) == value


@pytest.mark.parametrize(
    ("inside", "demand", "message"),
    [
        ((0, 3), NodeDemand(), "the cut contains a number that is not the number of a node"),
        ((-1,), NodeDemand(), "the cut contains a number that is not the number of a node"),
        ((0, 0), NodeDemand(), "the cut contains a node twice"),
        ((), NodeDemand(), "no compute node that takes part is inside the cut, or none is outside"),
        ((0, 1, 2), NodeDemand(), "no compute node that takes part is inside the cut, or none is outside"),
        ((2,), NodeDemand(ranks=(0, 1)), "no compute node that takes part is inside the cut, or none is outside"),
        ((1,), NodeDemand(Collective.BROADCAST, root=0), "no part of the data must leave the cut"),
    ],
)
def test_a_cut_that_proves_nothing(inside: tuple[int, ...], demand: NodeDemand, message: str) -> None:
    with pytest.raises(UnprovenError) as caught:
        proven(CutProof(inside), question_of(LINE, demand))
    assert str(caught.value) == message


LENGTHS = (1, 10, 100, 1000)
EXCHANGE = NodeDemand(Collective.ALL_TO_ALL)
ALLREDUCE = NodeDemand(Collective.ALLREDUCE)


def with_dead_end() -> Topology:
    """Return the line with a switch that a link leads to and no link leaves."""
    link = replace(LINE.links[0], target=3, bandwidth=Fraction(11))
    return replace(LINE, nodes=(*LINE.nodes, Node("d", NodeKind.SWITCH)), links=(*LINE.links, link))


@pytest.mark.parametrize(
    ("proof", "value"), [(PartitionProof(((0,), (1, 2, 3))), "4"), (ReceiptProof(), "17/4"), (CutProof((0,)), "14")]
)
def test_a_link_into_a_dead_end_counts_only_for_a_cut(proof: Proof, value: str) -> None:
    assert str(proven(proof, question_of(with_dead_end(), ALLREDUCE))) == value
    assert str(proof.algbw(with_dead_end(), ALLREDUCE)) == value


def test_a_receipt_counts_no_links_into_switches() -> None:
    boxes = build_topology("dgx-a100:boxes=2,gpus=2")
    assert proven(ReceiptProof(), question_of(boxes, ALLREDUCE)) == ReceiptProof().algbw(boxes, ALLREDUCE)


ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)
UNEVEN = ((ZERO, ONE, ZERO), (ZERO, ZERO, ZERO), (TWO, ZERO, ZERO))
PROOFS: list[tuple[Proof, NodeDemand, str]] = [
    (PartitionProof(((0,), (1, 2))), ALLREDUCE, "4"),
    (PartitionProof(((0,), (1,), (2,))), ALLREDUCE, "17/4"),
    (PartitionProof(((0, 1), (2,))), replace(ALLREDUCE, ranks=(0, 2)), "9/2"),
    (ReceiptProof(), ALLREDUCE, "17/4"),
    (LengthsProof.of(LINE, LENGTHS), EXCHANGE, "21759/2222"),
    (LengthsProof.of(LINE, LENGTHS), NodeDemand(Collective.GATHER, root=2), "7253/67"),
    (LengthsProof.of(LINE, LENGTHS), NodeDemand(Collective.SCATTER, root=2), "7253/670"),
    (LengthsProof.of(LINE, LENGTHS), replace(EXCHANGE, ranks=(0, 2)), "14506/1111"),
    (LengthsProof.of(LINE, LENGTHS), replace(EXCHANGE, matrix=UNEVEN), "7253/2021"),
    (LengthsProof(((0, 1), (1, 0), (1, 2)), (0, 1, 2)), replace(EXCHANGE, ranks=(1, 2)), "9"),
    (TreeLengthsProof.of(LINE, LENGTHS), ALLREDUCE, "7253/1111"),
    (TreeLengthsProof.of(LINE, LENGTHS), replace(ALLREDUCE, ranks=(0, 1)), "7253/11"),
]


@pytest.mark.parametrize(("proof", "demand", "value"), PROOFS)
def test_the_judge_and_the_proof_compute_this_value(proof: Proof, demand: NodeDemand, value: str) -> None:
    assert str(proven(proof, question_of(LINE, demand))) == str(proof.algbw(LINE, demand)) == value


def hub(*, multicast: bool = False, aggregation: bool = False) -> Topology:
    """Return three nodes at a switch, with another bandwidth of each link."""
    builder = TopologyBuilder("hub")
    for name in "abc":
        builder.add_compute(name)
    builder.add_switch("s", multicast=multicast, aggregation=aggregation)
    for place, name in enumerate("abc"):
        builder.add_link(name, "s", 2 + place)
        builder.add_link("s", name, 7 - place)
    return builder.build()


Potentials = dict[PhaseOp, dict[int, Fraction]]
"""The potentials of nodes, by phase."""

UP, DOWN = PhaseOp.REDUCE, PhaseOp.BROADCAST
HALF = Fraction(1, 2)


def dual(
    *cuts: tuple[PhaseOp, tuple[int, ...], int], potentials: Potentials | None = None, equal_roots: bool = False
) -> TreeDualProof:
    """Return weights of sets, each with its phase."""
    weighted = tuple(WeightedCut(phase, inside, Fraction(weight)) for phase, inside, weight in cuts)
    return TreeDualProof(weighted, potentials or {}, equal_roots=equal_roots)


def each(phase: PhaseOp, potentials: Potentials | None = None) -> TreeDualProof:
    """Return the sets of one node each, in a network of three nodes."""
    return dual(*((phase, (node,), 1) for node in range(3)), potentials=potentials)


ABLE = {"multicast": True, "aggregation": True}
ENDS = (0, 2)
DUALS: list[tuple[TreeDualProof, Topology, NodeDemand, str]] = [
    (dual((DOWN, (0,), 1), (DOWN, (0, 1), 2)), LINE, NodeDemand(shards=SHARDS), "42/13"),
    (dual((DOWN, (0,), 1), (DOWN, (0, 1), 2), (DOWN, (2,), 0)), LINE, NodeDemand(Collective.BROADCAST, root=0), "7/3"),
    (dual((UP, (0,), 1), (UP, (0, 1), 2)), LINE, NodeDemand(Collective.REDUCE_SCATTER), "57/5"),
    (dual((UP, (0,), 1), (UP, (0, 1), 2)), LINE, NodeDemand(Collective.REDUCE, root=1), "19/2"),
    (
        dual((DOWN, (0,), 1), (DOWN, (0, 1), 2), (UP, (2,), 3), (UP, (1, 2), 1), (DOWN, (1,), 1)),
        LINE,
        ALLREDUCE,
        "14/3",
    ),
    (each(DOWN, {DOWN: {3: HALF}}), hub(), NodeDemand(), "27/2"),
    (each(DOWN, {DOWN: {3: -HALF, 0: Fraction(0)}}), hub(), NodeDemand(), "27/2"),
    (each(UP, {UP: {3: -HALF}}), hub(multicast=True), NodeDemand(Collective.REDUCE_SCATTER), "27/2"),
    (each(UP, {UP: {3: HALF}, DOWN: {3: HALF}}), hub(), ALLREDUCE, "27"),
    (each(UP), hub(), ALLREDUCE, "18"),
    (dual((DOWN, (0, 3), 1), (DOWN, (1, 3), 1), (UP, (2, 3), 1)), hub(**ABLE), ALLREDUCE, "28"),
    (dual((DOWN, (0,), 1), (DOWN, (1,), 1), (UP, (2,), 1)), hub(multicast=True), ALLREDUCE, "10"),
    (dual((DOWN, (0,), 1), (DOWN, (1,), 1), (UP, (2,), 1)), hub(aggregation=True), ALLREDUCE, "10"),
    (dual((DOWN, (0, 1), 1), (DOWN, (1, 2), 1)), LINE, NodeDemand(ranks=ENDS), "7"),
    (dual((DOWN, (0, 1), 1), (UP, (1, 2), 1)), LINE, replace(ALLREDUCE, ranks=ENDS), "5"),
    (dual((DOWN, (0,), 1), (UP, (1,), 1), equal_roots=True), build_topology("ring:nodes=4"), ALLREDUCE, "6"),
]


@pytest.mark.parametrize(("proof", "topology", "demand", "value"), DUALS)
def test_weights_of_sets_prove_this_value(proof: Proof, topology: Topology, demand: NodeDemand, value: str) -> None:
    assert str(proven(proof, question_of(topology, demand))) == str(proof.algbw(topology, demand)) == value


@pytest.mark.parametrize(
    ("topology", "demand"),
    [(hub(multicast=True, aggregation=True), ALLREDUCE), (LINE, replace(ALLREDUCE, ranks=ENDS))],
    ids=["a switch that copies and adds up", "an idle node"],
)
def test_the_root_of_an_allreduce_may_be_outside_all_sets(topology: Topology, demand: NodeDemand) -> None:
    proof = dual((DOWN, (0,), 1), (UP, (2,), 1))
    with pytest.raises(UnprovenError, match=r"^the sets contain no data$"):
        proven(proof, question_of(topology, demand))
    with pytest.raises(ProofError):
        proof.algbw(topology, demand)


def test_a_link_into_a_dead_end_needs_no_opposite_link() -> None:
    ring = build_topology("ring:nodes=4")
    into = replace(ring.links[0], target=4)
    topology = replace(ring, nodes=(*ring.nodes, Node("end", NodeKind.SWITCH)), links=(*ring.links, into))
    proof = dual((DOWN, (0,), 1), (UP, (1,), 1), equal_roots=True)
    assert proven(proof, question_of(topology, ALLREDUCE)) == proof.algbw(topology, ALLREDUCE) == 6
