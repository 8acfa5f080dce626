"""Every kind of proof: the verifier and the proof compute the same bound, and changed proofs are refused."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_conditions import question_of

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport import compare_series
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.proof import (
    Bound,
    CutProof,
    LengthsProof,
    PricesProof,
    Proof,
    ProofError,
    ReceiptProof,
    TreeDualProof,
    WeightedCut,
    proof_document,
)
from forestcoll.schedule.proof.documents import KINDS
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.personalised import flow_optimum
from forestcoll.topology import Node, NodeKind, Shift, Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.proof_checks.checks import CHECKS, proven
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import ANY_KIND, examples, ranks_for, shards_for, uneven_networks, with_abilities
from oneport_platforms import figure_1
from verify_drafts import allreduce, broadcast, ring

PHASES = (PhaseOp.REDUCE, PhaseOp.BROADCAST)


def by_proof(proof: Proof, topology: Topology, demand: NodeDemand) -> Fraction | None:
    try:
        return proof.algbw(topology, demand)
    except ProofError:
        return None


def by_judge(proof: Proof, topology: Topology, demand: NodeDemand) -> Fraction | None:
    try:
        return proven(proof, question_of(topology, demand))
    except UnprovenError:
        return None


@st.composite
def questions(draw: st.DrawFn) -> tuple[Topology, NodeDemand]:
    """Return a random network and a demand."""
    flags = draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3))
    topology = with_abilities(draw(uneven_networks(most=6)), flags)
    collective = draw(st.sampled_from(SCHEDULED))
    places = draw(st.none() | ranks_for(topology))
    ranks = None if places is None else tuple(topology.compute[place] for place in places)
    members = topology.compute if ranks is None else ranks
    root = draw(st.sampled_from(members)) if collective.has_root else None
    shards = None
    if collective.has_shards and ranks is None and draw(st.booleans()):
        by_node = draw(shards_for(topology))
        shards = tuple(by_node[node] for node in topology.compute)
    return topology, NodeDemand(collective, root, shards, ranks)


@st.composite
def proofs(draw: st.DrawFn, topology: Topology) -> Proof:
    """Return a proof of a bound along trees, which may be invalid."""
    nodes = range(len(topology.nodes))
    insides = st.sets(st.sampled_from(nodes)).map(lambda each: tuple(sorted(each)))
    weights = st.builds(Fraction, st.integers(0, 6), st.integers(1, 4))
    cuts = st.lists(st.builds(WeightedCut, st.sampled_from(PHASES), insides, weights), max_size=4)
    idle = st.sampled_from(topology.switches) if topology.switches else st.sampled_from(nodes)
    potentials = st.dictionaries(st.sampled_from(PHASES), st.dictionaries(idle, weights, max_size=2))
    duals = st.builds(lambda some, more: TreeDualProof(tuple(some), more), cuts, potentials)
    return draw(st.one_of(st.builds(CutProof, insides), st.just(ReceiptProof()), duals))


@examples(400)
@given(st.data())
def test_the_verifier_and_the_proof_compute_the_same_bound(data: st.DataObject) -> None:
    topology, demand = data.draw(questions())
    proof = data.draw(proofs(topology))
    assert by_judge(proof, topology, demand) == by_proof(proof, topology, demand)


@examples(40)
@given(uneven_networks(most=5, kinds=ANY_KIND))
def test_proofs_of_random_allreduces_are_checked(topology: Topology) -> None:
    found = allreduce_optimum(topology)
    proof, demand = found.proof, NodeDemand(Collective.ALLREDUCE)
    expected = by_judge(proof, topology, demand)
    assert expected == by_proof(proof, topology, demand)
    assert expected == by_judge(proof.expanded(topology), topology, demand)
    assert expected == found.upper


@pytest.mark.parametrize("spec", ["ring:nodes=8", "torus:dims=3x4", "mi250:boxes=2,gpus=4", "dgx-a100:boxes=2,gpus=4"])
def test_images_of_symmetric_sets_need_not_be_written_out(spec: str) -> None:
    topology = build_topology(spec).without_abilities()
    found, demand = allreduce_optimum(topology), NodeDemand(Collective.ALLREDUCE)
    assert found.proof.symmetry.order > 1
    assert by_judge(found.proof, topology, demand) == found.upper
    assert by_judge(found.proof.expanded(topology), topology, demand) == found.upper


def test_lengths_and_prices_are_checked() -> None:
    topology = build_topology("torus:dims=3x4")
    found, demand = flow_optimum(topology), NodeDemand(Collective.ALL_TO_ALL)
    lengths = found.bound.proof
    assert by_judge(lengths, topology, demand) == by_proof(lengths, topology, demand) == found.algbw
    schedule = compare_series(figure_1(), "s").schedule()
    assert schedule.bound is not None
    prices = schedule.bound.proof
    assert by_judge(prices, schedule.topology, schedule.demand) == schedule.bound.algbw
    assert by_proof(prices, schedule.topology, schedule.demand) == schedule.bound.algbw


def test_every_kind_of_proof_has_a_judge() -> None:
    assert set(CHECKS) == set(KINDS.values())


def test_the_judge_never_calls_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS.values():
        monkeypatch.setattr(kind, "algbw", lambda *_: Fraction(10**6))
    schedule = with_proof(allreduce().freeze(), ReceiptProof(), Fraction(10**6))
    fault = verify(schedule).fault
    assert fault is not None
    assert fault.rule == "certificate-bound"
    assert "proves 100/3" in fault.message


def with_proof(schedule: TreeSchedule, proof: Proof, algbw: Fraction) -> TreeSchedule:
    return replace(schedule, bound=Bound(schedule.collective, algbw, proof))


HALF, THIRD = Fraction(1, 2), Fraction(100, 3)
TURN = Symmetry((Shift(4, np.array([1, 2, 3, 0], dtype=np.int32)),))


def ring_dual() -> TreeDualProof:
    """Return the dual of the ring of four: in each phase, the images of the set without one node.

    Each link costs 1/4 in both phases, and the weights of the sets with a given root add up to 6/4.
    """
    cuts = tuple(WeightedCut(phase, (1, 2, 3), Fraction(1)) for phase in PHASES)
    return TreeDualProof(cuts, {phase: {} for phase in PHASES}, TURN)


@pytest.mark.parametrize("proof", [ReceiptProof(), ring_dual()], ids=lambda proof: str(proof.kind))
def test_an_allreduce_that_reaches_a_bound_of_trees_is_optimal(proof: Proof, tmp_path: Path) -> None:
    schedule = with_proof(allreduce().freeze(), proof, THIRD)
    report = verify(schedule)
    assert (report.fault, report.optimal, report.algbw, report.bound) == (None, True, THIRD, schedule.bound)
    assert report.proof == proof
    path = tmp_path / "schedule.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    assert f'"certificate": {{"proof": {{"kind": "{proof.kind}"' in path.read_text()


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
        yield replace(right, symmetry=Symmetry((Shift(order, np.array(image, dtype=np.int32)),)))


@pytest.mark.parametrize("proof", list(changed_duals()), ids=lambda proof: str(proof.document(str)))
def test_a_dual_with_one_number_changed_is_refused(proof: TreeDualProof) -> None:
    fault = verify(with_proof(allreduce().freeze(), proof, THIRD)).fault
    assert fault is not None
    assert fault.rule in {"certificate-proof", "certificate-bound"}
    assert "\n" not in fault.message


def with_relay() -> TreeSchedule:
    """Return the allreduce of the ring with a fifth, idle GPU."""
    schedule = allreduce().freeze()
    nodes = (*schedule.topology.nodes, replace(schedule.topology.nodes[0], id="idle"))
    return replace(schedule, topology=replace(schedule.topology, nodes=nodes), ranks=(0, 1, 2, 3))


def with_switch() -> TreeSchedule:
    """Return the allreduce of the ring with a switch that copies and that no tree uses."""
    schedule = allreduce().freeze()
    nodes = (*schedule.topology.nodes, Node("nvs", NodeKind.SWITCH, multicast=True))
    return replace(schedule, topology=replace(schedule.topology, nodes=nodes))


WRONG: list[tuple[str, Callable[[], TreeSchedule], Proof, str]] = [
    ("certificate-proof", lambda: ring().freeze(), ReceiptProof(), "a receipt bounds an allreduce only"),
    ("certificate-proof", with_relay, ReceiptProof(), "a compute node is idle"),
    ("certificate-proof", with_switch, ReceiptProof(), "a switch can copy or add up data"),
    (
        "certificate-kind",
        lambda: ring().freeze(),
        LengthsProof((), ()),
        "expected 'cut' or 'receipt' or ",
    ),
    ("certificate-kind", lambda: broadcast().freeze(), PricesProof((), ()), "a proof of kind 'prices'"),
    ("certificate-proof", lambda: ring().freeze(), ring_dual(), "set 0 belongs to a reduce"),
]


@pytest.mark.parametrize(("rule", "schedule", "proof", "words"), WRONG)
def test_a_proof_for_another_request_is_refused(
    rule: str, schedule: Callable[[], TreeSchedule], proof: Proof, words: str
) -> None:
    fault = verify(with_proof(schedule(), proof, THIRD)).fault
    assert fault is not None
    assert fault.rule == rule
    assert words in fault.message


def test_a_bound_of_another_collective_is_refused() -> None:
    schedule = ring().freeze()
    assert schedule.bound is not None
    fault = verify(replace(schedule, bound=replace(schedule.bound, collective=Collective.ALLREDUCE))).fault
    assert fault is not None
    assert (fault.rule, fault.message) == (
        "certificate-collective",
        "the bound is one of an allreduce; expected one of an allgather",
    )


def test_too_long_numbers_are_refused() -> None:
    cuts = tuple(WeightedCut(PHASES[0], (1, 2, 3), Fraction(1, 10**1500 + 2 * place + 1)) for place in range(9))
    fault = verify(with_proof(allreduce().freeze(), TreeDualProof(cuts, {}), THIRD)).fault
    assert fault is not None
    assert fault.rule == "certificate-proof"
    assert "more than 4000 digits" in fault.message


def changed_lengths(right: LengthsProof) -> Iterator[LengthsProof]:
    yield replace(right, lengths=(right.lengths[0] + 10, *right.lengths[1:]))
    yield replace(right, lengths=(-1, *right.lengths[1:]))
    yield replace(right, ends=((0, 0), *right.ends[1:]))
    yield replace(right, ends=(right.ends[1], *right.ends[1:]))
    yield LengthsProof((), ())
    yield LengthsProof(right.ends, (0,) * len(right.lengths))


def test_changed_lengths_are_invalid_or_prove_a_weaker_bound() -> None:
    topology = build_topology("ring:nodes=5")
    demand = NodeDemand(Collective.ALL_TO_ALL)
    right = LengthsProof.of(topology, (1,) * len(topology.links))
    best = by_judge(right, topology, demand)
    assert best is not None
    longer, *wrong = changed_lengths(right)
    for proof in wrong:
        assert by_judge(proof, topology, demand) is None
    found = by_judge(longer, topology, demand)
    assert found is not None
    assert found >= best
    assert by_judge(right, topology, NodeDemand(Collective.ALLREDUCE)) is None


def document(certificate: object) -> dict[str, object]:
    found: dict[str, object] = json.loads("".join(schedule_text(ring().freeze())))
    found["certificate"] = certificate
    return found


def test_a_cut_can_be_given_as_a_proof() -> None:
    schedule = ring().freeze()
    assert schedule.bound is not None
    named = document({"proof": proof_document(schedule.bound.proof)})
    assert schedule_from_document(named, where="x").bound == schedule.bound


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (
            {"kind": "guess"},
            "x: certificate.proof.kind is 'guess'; this version supports 'cut', 'receipt', 'tree-dual'",
        ),
        ({}, "x: certificate.proof.kind is null; this version supports"),
        (3, 'x: certificate.proof is 3; expected {"kind": ..., ...}'),
        ({"kind": "cut"}, 'x: certificate.proof has no "cut"; this kind of proof needs it'),
        ({"kind": "cut", "cut": [9]}, "x: certificate.proof.cut[0] is 9; expected an integer from 0 to 3"),
        ({"kind": "tree-dual", "cuts": []}, 'x: certificate.proof has no "potentials"'),
        (
            {"kind": "tree-dual", "cuts": [{"phase": "up"}], "potentials": {}},
            "x: certificate.proof.cuts[0].phase is 'up'; this version supports 'broadcast', 'reduce'",
        ),
    ],
)
def test_an_invalid_proof_is_refused_in_one_line(proof: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        schedule_from_document(document({"proof": proof}), where="x")
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
