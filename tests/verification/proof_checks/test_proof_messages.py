"""The whole message of each condition of a proof that fails: of the verifier, and of the proof itself."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from proof_questions import (
    ALLREDUCE,
    DOWN,
    EXCHANGE,
    LINE,
    ONE_WAY,
    RING,
    SERIES,
    UP,
    dual,
    equal_roots,
    hub,
    one_link_slower,
    question_of,
    turn,
    with_switches,
)
from test_group_lengths import BROADCAST, one_way
from test_prices import PRICES, half_duplex, odd_proof, platform

import fault_lists
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import (
    Bound,
    CutProof,
    GroupLengthsProof,
    LengthsProof,
    PartitionProof,
    PricesProof,
    Proof,
    ProofError,
    ReceiptProof,
    TreeDistancesProof,
    TreeDualProof,
    TreeLengthsProof,
    WeightedCut,
)
from forestcoll.schedule.proof.documents import KINDS
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import Fault, verify
from forestcoll.verification.proof_checks import checks
from forestcoll.verification.proof_checks.checks import CHECKS, proven
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import linked
from oneport_platforms import figure_1
from verify_drafts import allreduce, broadcast, ring

Asked = tuple[Proof, Topology, NodeDemand]
ONE, HALF, THIRD = Fraction(1), Fraction(1, 2), Fraction(100, 3)
FINE = [Fraction(1, 10**1500 + place) for place in (1, 3, 7)]
"""Numbers whose common denominator has more than 4000 digits."""


def prices(*, price: int = 1, weight: int = 1, cut: tuple[int, ...] = (1,), times: int = 1) -> PricesProof:
    return PricesProof(((Port(PortKind.RECEIVE, 1), Fraction(price)),) * times, ((Fraction(weight), cut),))


def of_ring(*cuts: tuple[tuple[int, ...], Fraction], lengths: tuple[int, ...] = (1,) * 8) -> TreeDistancesProof:
    return replace(TreeDistancesProof.of(RING, lengths), cuts=cuts)


def of_star(*cuts: tuple[tuple[int, ...], Fraction]) -> Asked:
    star = linked("a b c d", "a=d b=d c=d", name="star")
    proof = replace(TreeDistancesProof.of(star, (1,) * 6), cuts=cuts)
    return proof, star, replace(ALLREDUCE, ranks=(0, 1, 2))


SET = (DOWN, (0,), 1)
WITH_HUB = with_switches(RING, "h", multicast=True)
LINKED_HUB = with_switches(RING, "h", (4, 0), (0, 4), (4, 1), (1, 4), multicast=True)
ISLANDS = with_switches(RING, "wxyz", (4, 5), (0, 6), (6, 7))
"""The ring with a link between two switches that no other link joins, and a path of links from node 0."""

UNPROVEN: dict[str, Asked] = {
    "a dual of an all-to-all": (dual(SET), RING, EXCHANGE),
    "a set of a broadcast in a reduce-scatter": (dual((DOWN, (0, 1), 1)), RING, NodeDemand(Collective.REDUCE_SCATTER)),
    "a shift that moves a switch": (dual(SET, symmetry=turn(2, [4, 1, 2, 3, 0])), WITH_HUB, NodeDemand()),
    "a shift that moves a slow link": (dual(SET, symmetry=turn(4)), one_link_slower(), NodeDemand()),
    "a shift that moves an island": (dual(SET, symmetry=turn(2, [0, 1, 2, 3, 6, 7, 4, 5])), ISLANDS, NodeDemand()),
    "a shift to a node twice": (dual(SET, symmetry=turn(2, [0, 0, 1, 1])), RING, NodeDemand()),
    "a set of negative weight in a dual": (dual((DOWN, (0,), -1)), RING, NodeDemand()),
    "a set of all nodes in a dual": (dual((DOWN, (0, 1, 2, 3), 1)), RING, NodeDemand()),
    "a potential of a compute node": (dual(SET, potentials={DOWN: {0: HALF}}), RING, NodeDemand()),
    "no data": (dual((DOWN, (1,), 1)), RING, SERIES),
    "equal roots of an allgather": (equal_roots(), RING, NodeDemand()),
    "equal roots without an opposite link": (equal_roots(), one_link_slower(), ALLREDUCE),
    "equal roots with a switch that copies": (equal_roots(), LINKED_HUB, ALLREDUCE),
    "a root outside all sets, on a switch": (
        dual(SET, (UP, (2,), 1)),
        hub(multicast=True, aggregation=True),
        ALLREDUCE,
    ),
    "a root outside all sets, on an idle node": (dual(SET, (UP, (2,), 1)), LINE, replace(ALLREDUCE, ranks=(0, 2))),
    "a partition for an allgather": (PartitionProof(((0, 1), (2, 3))), RING, NodeDemand()),
    "a node in no part": (PartitionProof(((0, 1), (3,))), RING, ALLREDUCE),
    "a node in two parts": (PartitionProof(((0, 1), (1, 2, 3))), RING, ALLREDUCE),
    "a part with no node": (PartitionProof(((0, 1), (2, 3, 4))), RING, ALLREDUCE),
    "one part": (PartitionProof(((0, 1, 2, 3),)), RING, ALLREDUCE),
    "a part of a switch": (PartitionProof(((0, 1, 2, 3), (4,))), WITH_HUB, ALLREDUCE),
    "an empty part": (PartitionProof(((0, 1, 2, 3), ())), RING, ALLREDUCE),
    "a cut of an all-to-all": (CutProof((0, 1)), RING, EXCHANGE),
    "lengths of an allgather": (LengthsProof.of(RING, (1,) * 8), RING, NodeDemand()),
    "negative lengths": (LengthsProof.of(RING, (-1,) * 8), RING, EXCHANGE),
    "a length of no link": (LengthsProof(((0, 2),), (1,)), RING, EXCHANGE),
    "no lengths": (LengthsProof((), ()), RING, EXCHANGE),
    "lengths of 0": (LengthsProof.of(RING, (0,) * 8), RING, EXCHANGE),
    "lengths and no way back": (LengthsProof(((0, 1),), (1,)), ONE_WAY, EXCHANGE),
    "prices of an allreduce": (prices(), figure_1(), NodeDemand(Collective.ALLREDUCE)),
    "prices of an allgather with all nodes in a cut": (prices(cut=(0, 1, 2, 3, 4)), figure_1(), NodeDemand()),
    "prices of a scatter with a node twice": (prices(cut=(1, 1)), figure_1(), NodeDemand(Collective.SCATTER, root=0)),
    "prices of a reduce": (prices(), figure_1(), NodeDemand(Collective.REDUCE, root=0)),
    "a price of 0": (prices(price=0), figure_1(), SERIES),
    "a negative weight of a cut": (prices(weight=-1), figure_1(), SERIES),
    "a weight of 0": (prices(weight=0), figure_1(), SERIES),
    "a port with two prices": (prices(times=2), figure_1(), SERIES),
    "no prices": (PricesProof((), ()), figure_1(), SERIES),
    "an empty cut": (prices(cut=()), figure_1(), SERIES),
    "a cut with the source": (prices(cut=(0, 1)), figure_1(), SERIES),
    "a cut that weighs too much": (prices(weight=3), figure_1(), SERIES),
    "prices of ports without the one-port model": (prices(), replace(figure_1(), port_model=None), SERIES),
    "distances of an allgather": (of_ring(((0,), ONE)), RING, NodeDemand()),
    "distances without an opposite link": (of_ring(((0,), ONE)), one_link_slower(), ALLREDUCE),
    "distances with a switch that copies": (of_ring(((0,), ONE)), WITH_HUB, ALLREDUCE),
    "opposite lengths differ": (of_ring(((0,), ONE), lengths=(1, *(2,) * 7)), RING, ALLREDUCE),
    "negative distances": (of_ring(((0,), ONE), lengths=(-1,) * 8), RING, ALLREDUCE),
    "a distance of no link": (TreeDistancesProof(((0, 2), (2, 0)), (1, 1), (((0,), ONE),)), RING, ALLREDUCE),
    "a set of negative weight": (of_ring(((0,), -ONE)), RING, ALLREDUCE),
    "a set of weight 0": (of_ring(((0,), 0 * ONE)), RING, ALLREDUCE),
    "a set of all nodes": (of_ring(((0, 1, 2, 3), ONE)), RING, ALLREDUCE),
    "no node in all sets": (of_ring(((0,), HALF), ((1,), HALF)), RING, ALLREDUCE),
    "no sets": (of_ring(), RING, ALLREDUCE),
    "sets heavier than a distance": (of_ring(((0,), ONE), ((0, 3), ONE)), RING, ALLREDUCE),
    "sets heavier than a distance to a relay": of_star(((0, 2), 2 * ONE), ((0, 1), 2 * ONE)),
    "lengths of trees of an allgather": (TreeLengthsProof.of(RING, (1,) * 8), RING, NodeDemand()),
    "a negative length of trees": (TreeLengthsProof.of(RING, (-1, *(1,) * 7)), RING, ALLREDUCE),
    "a length of trees of no link": (TreeLengthsProof(((0, 2),), (1,)), RING, ALLREDUCE),
    "no lengths of trees": (TreeLengthsProof((), ()), RING, ALLREDUCE),
    "lengths of trees of 13 nodes": (
        TreeLengthsProof(((0, 1),), (1,)),
        build_topology("ring:nodes=13"),
        ALLREDUCE,
    ),
}


def both_ways(*pairs: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(ends for one, other in pairs for ends in ((one, other), (other, one)))


ONLY_VERIFIED: dict[str, Asked] = {
    "a shift of order 1": (dual(SET, symmetry=turn(1, range(4))), RING, NodeDemand()),
    "two lengths": (LengthsProof(((0, 1), (0, 1)), (1, 1)), RING, EXCHANGE),
    "a cut with no node": (CutProof((0, 3)), LINE, NodeDemand()),
    "a cut with a negative number": (CutProof((-1,)), LINE, NodeDemand()),
    "a cut with a node twice": (CutProof((0, 0)), LINE, NodeDemand()),
    "a cut of no nodes": (CutProof(()), LINE, NodeDemand()),
    "a cut of all nodes": (CutProof((0, 1, 2)), LINE, NodeDemand()),
    "a cut of an idle node": (CutProof((2,)), LINE, NodeDemand(ranks=(0, 1))),
    "a cut without the root": (CutProof((1,)), LINE, SERIES),
    "two lengths of trees": (TreeLengthsProof(((0, 1), (0, 1)), (1, 1)), RING, ALLREDUCE),
    "lengths of trees and no way back": (TreeLengthsProof(((0, 1),), (1,)), ONE_WAY, ALLREDUCE),
    "two distances": (
        TreeDistancesProof(both_ways((0, 1), (0, 1)), (1,) * 4, (((0,), ONE),)),
        RING,
        ALLREDUCE,
    ),
    "a set of distances with no node": (of_ring(((0,), ONE), ((0, 9), ONE)), RING, ALLREDUCE),
    "a set of distances with a node twice": (of_ring(((0,), ONE), ((0, 0), ONE)), RING, ALLREDUCE),
    "fine weights of sets": (of_ring(*(((0,), each) for each in FINE)), RING, ALLREDUCE),
    "negative lengths for groups": (GroupLengthsProof(((0, 1),), (-1,)), RING, NodeDemand()),
    "two lengths for groups": (GroupLengthsProof(((0, 1), (0, 1)), (1, 1)), RING, NodeDemand()),
    "a length for groups of no link": (GroupLengthsProof(((0, 2),), (1,)), RING, NodeDemand()),
    "no lengths for groups": (GroupLengthsProof((), ()), RING, NodeDemand()),
    "lengths for an allgather one way": (GroupLengthsProof.of(one_way(), (1, 1)), one_way(), NodeDemand()),
    "lengths for an allreduce one way": (GroupLengthsProof.of(one_way(), (1, 1)), one_way(), ALLREDUCE),
    "lengths for an all-to-all one way": (GroupLengthsProof.of(one_way(), (1, 1)), one_way(), EXCHANGE),
    "fine weights of cuts": (
        PricesProof(PRICES, tuple((each, (1,)) for each in FINE)),
        platform("one-port"),
        BROADCAST,
    ),
    "fine prices of odd sets": (odd_proof(*((each, (0, 1, 2)) for each in FINE)), half_duplex("abc"), SERIES),
    "an odd set without a price": (odd_proof((0, (0, 1, 2))), half_duplex("abcd", switches="x"), SERIES),
    "an odd set with a negative price": (odd_proof((-1, (0, 1, 2))), half_duplex("abcd", switches="x"), SERIES),
    "an even set": (odd_proof((1, (0, 1))), half_duplex("abcd", switches="x"), SERIES),
    "an odd set with a node twice": (odd_proof((1, (0, 1, 1))), half_duplex("abcd", switches="x"), SERIES),
    "an odd set with a switch": (odd_proof((1, (0, 1, 4))), half_duplex("abcd", switches="x"), SERIES),
    "a path that leaves an odd set": (odd_proof((1, (0, 1, 2)), cuts=(3,)), half_duplex("abcd"), SERIES),
}
"""Conditions of numbers that no search finds."""


def of_condition(proof: Proof, topology: Topology, demand: NodeDemand) -> Fault:
    with pytest.raises(UnprovenError) as caught:
        proven(proof, question_of(topology, demand))
    return Fault(proof.kind, str(caught.value))


def by_itself(proof: Proof, topology: Topology, demand: NodeDemand) -> Fault:
    with pytest.raises(ProofError) as caught:
        proof.algbw(topology, demand)
    return Fault(proof.kind, str(caught.value))


def with_proof(schedule: TreeSchedule, proof: Proof, algbw: Fraction = THIRD) -> TreeSchedule:
    return replace(schedule, bound=Bound(schedule.collective, algbw, proof))


def ring_dual() -> TreeDualProof:
    """Return the dual of the ring of four: in each phase, the images of the set without one node.

    Each link costs 1/4 in both phases, and the weights of the sets with a given root add up to 6/4.
    """
    cuts = ((phase, (1, 2, 3), 1) for phase in (UP, DOWN))
    return dual(*cuts, potentials={phase: {} for phase in (UP, DOWN)}, symmetry=turn(4))


def changed_duals() -> Iterator[TreeDualProof]:
    """Yield copies of the dual of the ring with one number changed."""
    right = ring_dual()
    first, second = right.cuts
    for weight in (Fraction(-1), Fraction(0), Fraction(2), 1 + Fraction(1, 10**30)):
        yield replace(right, cuts=(replace(first, weight=weight), second))
    for inside in ((), (1,), (1, 2), (0, 1, 2, 3), (1, 2, 3, 3), (1, 2, 9), (-1, 1, 2)):
        yield replace(right, cuts=(replace(first, inside=inside), second))
    yield replace(right, cuts=(first, replace(second, phase=PhaseOp.REDUCE)))
    yield replace(right, cuts=(first,))
    yield replace(right, cuts=())
    yield replace(right, potentials={PhaseOp.REDUCE: {0: HALF}})
    yield replace(right, potentials={PhaseOp.BROADCAST: {7: HALF}})
    yield replace(right, symmetry=Symmetry(()))
    for order, image in ((3, [1, 2, 3, 0]), (2, [1, 2, 3, 0]), (4, [1, 0, 2, 3]), (4, [1, 1, 3, 0]), (4, [1, 2, 3])):
        yield replace(right, symmetry=turn(order, image))


def with_relay() -> TreeSchedule:
    """Return the allreduce of the ring with a fifth, idle GPU."""
    schedule = allreduce().freeze()
    nodes = (*schedule.topology.nodes, replace(schedule.topology.nodes[0], id="idle"))
    return replace(schedule, topology=replace(schedule.topology, nodes=nodes), ranks=(0, 1, 2, 3))


def with_switch() -> TreeSchedule:
    """Return the allreduce of the ring with a switch that copies and that no tree uses."""
    schedule = allreduce().freeze()
    return replace(schedule, topology=with_switches(schedule.topology, "s", multicast=True))


LONG = TreeDualProof(tuple(WeightedCut(UP, (1, 2, 3), Fraction(1, 10**1500 + 2 * each + 1)) for each in range(9)), {})
WRONG: dict[str, tuple[Callable[[], TreeSchedule], Proof]] = {
    "a receipt for an allgather": (lambda: ring().freeze(), ReceiptProof()),
    "a receipt with an idle node": (with_relay, ReceiptProof()),
    "a receipt with a switch that copies": (with_switch, ReceiptProof()),
    "lengths for an allgather": (lambda: ring().freeze(), LengthsProof((), ())),
    "prices for a broadcast": (lambda: broadcast().freeze(), PricesProof((), ())),
    "a dual with reduces for an allgather": (lambda: ring().freeze(), ring_dual()),
    "a dual of long numbers": (lambda: allreduce().freeze(), LONG),
}


def test_every_message_of_a_condition() -> None:
    found: list[tuple[str, Fault | None]] = []
    for name, asked in UNPROVEN.items():
        found += [(name, of_condition(*asked)), (f"{name}, the proof itself", by_itself(*asked))]
    found += [(name, of_condition(*asked)) for name, asked in ONLY_VERIFIED.items()]
    swapped = dual(SET, potentials={DOWN: {4: ONE}}, symmetry=turn(2, [0, 1, 2, 3, 5, 4]))
    found.append(("a potential of one of two images", by_itself(swapped, with_switches(RING, "xy"), NodeDemand())))
    for name, (make, wrong) in WRONG.items():
        schedule = with_proof(make(), wrong)
        found.append((f"schedule with {name}", verify(schedule).fault))
        assert verify(replace(schedule, bound=None)).ok
    right = ring().freeze()
    of_another = replace(right, bound=Bound(Collective.ALLREDUCE, right.algbw, CutProof((1, 2, 3))))
    found.append(("schedule with a bound of another collective", verify(of_another).fault))
    for number, changed in enumerate(changed_duals()):
        found.append((f"dual {number}", verify(with_proof(allreduce().freeze(), changed)).fault))
    fault_lists.check("proofs", found)


def test_every_kind_of_proof_has_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(CHECKS) == set(KINDS.values())
    monkeypatch.setattr(checks, "CHECKS", {LengthsProof: CHECKS[LengthsProof]})
    with pytest.raises(UnprovenError, match="there is no check for proofs of kind 'cut'"):
        proven(CutProof((0,)), question_of(RING, NodeDemand()))


def test_the_judge_never_calls_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS.values():
        monkeypatch.setattr(kind, "algbw", lambda *_: Fraction(10**6))
    fault = verify(with_proof(allreduce().freeze(), ReceiptProof(), Fraction(10**6))).fault
    assert fault is not None
    assert fault.rule == "certificate-bound"
    assert "proves 100/3" in fault.message
