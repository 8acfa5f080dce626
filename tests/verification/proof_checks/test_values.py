"""The bounds of small proofs on networks without any symmetry: values by hand, and those of the proof itself."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from proof_questions import (
    ALLREDUCE,
    DOWN,
    EXCHANGE,
    LINE,
    RING,
    SERIES,
    UP,
    dual,
    equal_roots,
    hub,
    question_of,
    with_switches,
)
from test_proof_messages import both_ways, of_ring

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport import compare_series
from forestcoll.schedule.proof import (
    CutProof,
    LengthsProof,
    PartitionProof,
    Proof,
    ReceiptProof,
    TreeDistancesProof,
    TreeLengthsProof,
)
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification.proof_checks import tree_lengths
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.distances import least_sums
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import linked, with_abilities
from oneport_platforms import figure_1, platform_of_costs

SHARDS = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
ENDS = (0, 2)
CUTS: list[tuple[tuple[int, ...], NodeDemand, str]] = [
    ((0, 1), NodeDemand(), "3"),
    ((1,), NodeDemand(), "21"),
    ((0,), NodeDemand(shards=SHARDS), "6"),
    ((0, 1), NodeDemand(Collective.REDUCE_SCATTER), "6"),
    ((0, 1), ALLREDUCE, "2"),
    ((1,), ALLREDUCE, "7"),
    ((0,), SERIES, "3"),
    ((0, 1), NodeDemand(Collective.REDUCE, root=2), "2"),
    ((0,), NodeDemand(Collective.GATHER, root=2), "9"),
    ((0, 1), NodeDemand(Collective.GATHER, root=2), "3"),
    ((0,), NodeDemand(Collective.SCATTER, root=0), "9/2"),
    ((0, 1), NodeDemand(Collective.SCATTER, root=0), "6"),
]

LENGTHS = (1, 10, 100, 1000)
ZERO, ONE, TWO, HALF = Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2)
UNEVEN = ((ZERO, ONE, ZERO), (ZERO, ZERO, ZERO), (TWO, ZERO, ZERO))
ON_THE_LINE: list[tuple[Proof, NodeDemand, str]] = [
    (PartitionProof(((0,), (1, 2))), ALLREDUCE, "4"),
    (PartitionProof(((0,), (1,), (2,))), ALLREDUCE, "17/4"),
    (PartitionProof(((0, 1), (2,))), replace(ALLREDUCE, ranks=ENDS), "9/2"),
    (ReceiptProof(), ALLREDUCE, "17/4"),
    (LengthsProof.of(LINE, LENGTHS), EXCHANGE, "21759/2222"),
    (LengthsProof.of(LINE, LENGTHS), NodeDemand(Collective.GATHER, root=2), "7253/67"),
    (LengthsProof.of(LINE, LENGTHS), NodeDemand(Collective.SCATTER, root=2), "7253/670"),
    (LengthsProof.of(LINE, LENGTHS), replace(EXCHANGE, ranks=ENDS), "14506/1111"),
    (LengthsProof.of(LINE, LENGTHS), replace(EXCHANGE, matrix=UNEVEN), "7253/2021"),
    (LengthsProof(((0, 1), (1, 0), (1, 2)), (0, 1, 2)), replace(EXCHANGE, ranks=(1, 2)), "9"),
    (TreeLengthsProof.of(LINE, LENGTHS), ALLREDUCE, "7253/1111"),
    (TreeLengthsProof.of(LINE, LENGTHS), replace(ALLREDUCE, ranks=(0, 1)), "7253/11"),
    (TreeLengthsProof(((0, 1), (1, 2)), (0, 1)), ALLREDUCE, "2"),
    (dual((DOWN, (0,), 1), (DOWN, (0, 1), 2)), NodeDemand(shards=SHARDS), "42/13"),
    (dual((DOWN, (0,), 1), (DOWN, (0, 1), 2), (DOWN, (2,), 0)), SERIES, "7/3"),
    (dual((UP, (0,), 1), (UP, (0, 1), 2)), NodeDemand(Collective.REDUCE_SCATTER), "57/5"),
    (dual((UP, (0,), 1), (UP, (0, 1), 2)), NodeDemand(Collective.REDUCE, root=1), "19/2"),
    (dual((DOWN, (0,), 1), (DOWN, (0, 1), 2), (UP, (2,), 3), (UP, (1, 2), 1), (DOWN, (1,), 1)), ALLREDUCE, "14/3"),
    (dual((DOWN, (0, 1), 1), (DOWN, (1, 2), 1)), NodeDemand(ranks=ENDS), "7"),
    (dual((DOWN, (0, 1), 1), (UP, (1, 2), 1)), replace(ALLREDUCE, ranks=ENDS), "5"),
]

DEAD_END = with_switches(LINE, "d", (0, 3), bandwidth=11)
RING_WITH_DEAD_END = with_switches(RING, "d", (0, 4))
ABLE = hub(multicast=True, aggregation=True)
EACH, EACH_UP = ([(phase, (node,), 1) for node in range(3)] for phase in (DOWN, UP))
ROOTS = dual((DOWN, (0,), 1), (UP, (1,), 1), equal_roots=True)
ONE_UP = dual((DOWN, (0,), 1), (DOWN, (1,), 1), (UP, (2,), 1))
FREE = tuple(int({link.source, link.target} != {0, 1}) for link in RING.links)
"""Lengths of the links of the ring; those between nodes 0 and 1 have none."""


def letter_h() -> Topology:
    """Return four compute nodes at the ends of an H, in an order in which neighbours are not adjacent, and two hubs."""
    return linked("a b c d x y", "a=x d=x x=y y=b y=c")


def two_switches() -> Topology:
    """Return three nodes that all send to a switch that adds up. It sends to one that copies, which sends to all."""
    links = "a>adds b>adds c>adds adds>copies copies>a copies>b copies>c"
    return with_abilities(linked("a b c", links, switches="adds copies"), [(False, True), (True, False)])


Value = tuple[Proof, Topology, NodeDemand, str]


def of_trees(topology: Topology, value: str, ranks: tuple[int, ...] | None = None) -> Value:
    """Return the bound of trees if all links have length 1."""
    proof = TreeLengthsProof.of(topology, (1,) * len(topology.links))
    return proof, topology, replace(ALLREDUCE, ranks=ranks), value


def values() -> Iterator[Value]:
    yield from ((CutProof(inside), LINE, demand, value) for inside, demand, value in CUTS)
    yield from ((proof, LINE, demand, value) for proof, demand, value in ON_THE_LINE)
    yield PartitionProof(((0,), (1, 2, 3))), DEAD_END, ALLREDUCE, "4"
    yield ReceiptProof(), DEAD_END, ALLREDUCE, "17/4"
    yield CutProof((0,)), DEAD_END, ALLREDUCE, "14"
    yield ReceiptProof(), build_topology("dgx-a100:boxes=2,gpus=2"), ALLREDUCE, "650/3"
    yield dual(*EACH, potentials={DOWN: {3: HALF}}), hub(), NodeDemand(), "27/2"
    yield dual(*EACH, potentials={DOWN: {3: -HALF, 0: ZERO}}), hub(), NodeDemand(), "27/2"
    scatter = NodeDemand(Collective.REDUCE_SCATTER)
    yield dual(*EACH_UP, potentials={UP: {3: -HALF}}), hub(multicast=True), scatter, "27/2"
    yield dual(*EACH_UP, potentials={UP: {3: HALF}, DOWN: {3: HALF}}), hub(), ALLREDUCE, "27"
    yield dual(*EACH_UP), hub(), ALLREDUCE, "18"
    yield dual((DOWN, (0, 3), 1), (DOWN, (1, 3), 1), (UP, (2, 3), 1)), ABLE, ALLREDUCE, "28"
    yield ONE_UP, hub(multicast=True), ALLREDUCE, "10"
    yield ONE_UP, hub(aggregation=True), ALLREDUCE, "10"
    yield equal_roots(), RING, ALLREDUCE, "4"
    yield ROOTS, RING, ALLREDUCE, "6"
    yield ROOTS, RING_WITH_DEAD_END, ALLREDUCE, "6"
    yield of_trees(letter_h(), "1", (0, 1, 2, 3))
    yield of_trees(letter_h(), "5/2", (0, 3))
    yield of_trees(hub(), "27/8")
    yield of_trees(hub(multicast=True), "27/7")
    yield of_trees(hub(aggregation=True), "27/7")
    yield of_trees(ABLE, "9/2")
    yield of_trees(with_switches(RING, "h", multicast=True, aggregation=True), "4/3")
    yield of_trees(DEAD_END, "17/4")
    yield of_trees(two_switches(), "7/8")
    yield of_ring(((0,), ONE)), RING, ALLREDUCE, "4"
    yield of_ring(((0,), ONE)), RING_WITH_DEAD_END, ALLREDUCE, "4"
    yield of_ring(((0, 1), ONE), lengths=FREE), RING, ALLREDUCE, "3"
    ends, lengths = both_ways((0, 1), (0, 3), (2, 3)), (0, 0, 2, 2, 2, 2)
    yield TreeDistancesProof(ends, lengths, (((0, 1, 2), TWO),)), RING, ALLREDUCE, "2"


@pytest.mark.parametrize(("proof", "topology", "demand", "value"), list(values()))
def test_the_judge_and_the_proof_compute_this_value(
    proof: Proof, topology: Topology, demand: NodeDemand, value: str
) -> None:
    assert str(proven(proof, question_of(topology, demand))) == str(proof.algbw(topology, demand)) == value


def by_switch() -> Topology:
    """Return three nodes that share a switch; two of them also have a link of their own."""
    costs = [("a", "x", 1), ("x", "b", 1), ("x", "c", 2), ("b", "c", 3)]
    return platform_of_costs("abc", costs, switches="x")


def without_ports() -> Topology:
    return replace(by_switch(), port_model=None)


@pytest.mark.parametrize("network", [figure_1, by_switch, without_ports])
def test_the_judge_and_the_proof_compute_the_same_throughput(network: Callable[[], Topology]) -> None:
    topology = network()
    schedule = compare_series(topology, topology.nodes[0].id).schedule()
    assert schedule.bound is not None
    proof = schedule.bound.proof
    assert proof.algbw(topology, SERIES) == proven(proof, question_of(topology, SERIES)) == schedule.bound.algbw


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
