"""Every kind of proof is sound for all numbers, equals the result of the search, and is read back from JSON."""

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.schedule.proof import (
    CutProof,
    LengthsProof,
    Proof,
    ProofError,
    ReceiptProof,
    TreeDualProof,
    WeightedCut,
    proof_document,
    proof_from_document,
)
from forestcoll.schedule.proof.tree_dual import PHASES
from forestcoll.solver.bounds.table import bounds_of
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, ranks_for
from one_answer import drawn_networks
from oracles import subsets
from refusal import refusal

PARTS = st.integers(0, 6).map(lambda number: Fraction(number, 2))


@st.composite
def solved(draw: st.DrawFn, collective: Collective | None = None) -> TreeOptimum:
    """The optimum of a collective on a small network, possibly over some of its compute nodes."""
    topology = draw(drawn_networks(most=5))
    options: dict[str, Any] = {"collective": collective or draw(st.sampled_from(SCHEDULED))}
    members = topology.compute
    if draw(st.booleans()):
        options["ranks"] = draw(ranks_for(topology))
        members = tuple(topology.compute[rank] for rank in options["ranks"])
    if options["collective"].has_root:
        options["root"] = topology.nodes[members[-1]].id
    made: TreeOptimum = optimum(topology, Demand(**options))
    return made


def proven(proof: Proof, best: TreeOptimum) -> Fraction | None:
    """Return the algbw that a proof proves for the request of `best`, None if the proof is invalid."""
    try:
        return proof.algbw(best.topology, best.demand)
    except ProofError:
        return None


@examples(60)
@given(solved())
def test_no_cut_proves_less_than_a_schedule_reaches(best: TreeOptimum) -> None:
    found = []
    for inside in subsets(range(len(best.topology.nodes))):
        bound = proven(CutProof(tuple(sorted(inside))), best)
        if bound is not None:
            assert bound >= best.bound.algbw
            found.append(bound)
        else:
            kept = len(inside.intersection(best.members))
            assert kept in {0, len(best.members)} or not best.demand.collective.has_shards
    assert min(found) == CutProof(best.cut).algbw(best.topology, best.demand)


@st.composite
def weights(draw: st.DrawFn, topology: Topology, phases: tuple[PhaseOp, ...]) -> TreeDualProof:
    """Arbitrary weights of arbitrary sets, and arbitrary potentials, most of them of switches."""
    sets = st.sets(st.integers(0, len(topology.nodes) - 1), min_size=1)
    cuts = draw(st.lists(st.tuples(st.sampled_from(phases), sets, PARTS), min_size=1, max_size=6))
    nodes = st.sampled_from([*topology.switches, *topology.switches, *topology.compute])
    potentials = {phase: draw(st.dictionaries(nodes, PARTS, max_size=3)) for phase in phases}
    return TreeDualProof(
        tuple(WeightedCut(phase, tuple(sorted(each)), weight) for phase, each, weight in cuts), potentials
    )


@examples(200)
@given(solved(), st.data())
def test_no_weights_prove_less_than_a_schedule_reaches(best: TreeOptimum, data: st.DataObject) -> None:
    phases: tuple[PhaseOp, ...] = PHASES
    if best.collective is not Collective.ALLREDUCE:
        phases = (PhaseOp.REDUCE,) if best.collective.only_reduces else (PhaseOp.BROADCAST,)
    bound = proven(data.draw(weights(best.topology, phases)), best)
    assert bound is None or bound >= best.algbw


@examples(100)
@given(solved(), st.data())
def test_a_changed_proof_proves_no_less_than_a_schedule_reaches(best: TreeOptimum, data: st.DataObject) -> None:
    proof = best.bound.proof
    if isinstance(proof, CutProof):
        moved = set(proof.inside) ^ {data.draw(st.integers(0, len(best.topology.nodes) - 1))}
        proof = CutProof(tuple(sorted(moved)))
    elif isinstance(proof, TreeDualProof):
        factors = data.draw(st.lists(PARTS, min_size=len(proof.cuts), max_size=len(proof.cuts)))
        pairs = zip(proof.cuts, factors, strict=True)
        proof = replace(proof, cuts=tuple(replace(cut, weight=cut.weight * factor) for cut, factor in pairs))
    bound = proven(proof, best)
    assert bound is None or bound >= best.algbw


@examples(60)
@given(drawn_networks(most=5))
def test_a_receipt_proof_bounds_only_an_allreduce_without_copies(topology: Topology) -> None:
    best = optimum(topology, "allreduce")
    bound = proven(ReceiptProof(), best)
    assert (bound is None) == bool(topology.able_switches)
    assert bound is None or bound >= best.bound.algbw


@examples(40)
@given(drawn_networks(most=5), st.data())
def test_no_lengths_prove_less_than_a_flow_reaches(topology: Topology, data: st.DataObject) -> None:
    reached = optimum(topology, "all-to-all").algbw
    count = len(topology.links)
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    with suppress(ProofError):
        bound = LengthsProof.of(topology, tuple(lengths)).algbw(topology, NodeDemand(Collective.ALL_TO_ALL))
        assert bound >= reached


def through_json(proof: Proof, topology: Topology) -> Proof:
    return proof_from_document(json.loads(json.dumps(proof_document(proof))), topology, "proof")


@examples(100)
@given(solved())
def test_a_proof_is_read_back_unchanged(best: TreeOptimum) -> None:
    again = through_json(best.bound.proof, best.topology)
    assert again.algbw(best.topology, best.demand) == best.bound.algbw
    assert proof_document(again) == proof_document(best.bound.proof)


@pytest.mark.parametrize("spec", ["mi250:boxes=2", "mi250:boxes=2,gpus=8", "dgx-a100:boxes=2", "mesh:dims=5"])
def test_the_proofs_of_machines_are_read_back_unchanged(spec: str) -> None:
    topology = build_topology(spec)
    for row in bounds_of(topology).collectives:
        assert through_json(row.bound.proof, topology).algbw(topology, row.demand()) == row.upper_algbw


NOTHING: dict[str, list[object]] = {"reduce": [], "broadcast": []}
SPOILED: dict[str, tuple[dict[str, object], str]] = {
    "no object": ([], "proof is []; expected"),  # type: ignore[dict-item]
    "no kind": ({}, "proof.kind is null; this version supports"),
    "another kind": ({"kind": "oath"}, "proof.kind is 'oath'; this version supports 'cut', 'receipt', 'tree-dual'"),
    "no cut": ({"kind": "cut"}, 'proof has no "cut"'),
    "no list": ({"kind": "cut", "cut": 3}, "proof.cut is 3; expected a list"),
    "no node": ({"kind": "cut", "cut": [99]}, "proof.cut[0] is 99; expected an integer from 0 to 3"),
    "no integer": ({"kind": "cut", "cut": [True]}, "proof.cut[0] is true"),
    "no weight": ({"kind": "tree-dual", "cuts": [{"phase": "reduce", "cut": [0]}], "potentials": {}}, 'no "weight"'),
    "no phase": (
        {"kind": "tree-dual", "cuts": [{"phase": "x", "cut": [0], "weight": 1}]},
        "phase is 'x'; this version supports 'broadcast', 'reduce'",
    ),
    "no potentials": ({"kind": "tree-dual", "cuts": []}, 'proof has no "potentials"'),
    "no image": (
        {"kind": "tree-dual", "cuts": [], "potentials": NOTHING, "symmetry": [{"order": 2, "image": [0]}]},
        "image has 1 entries; expected one for each of the 4 nodes",
    ),
    "no length": ({"kind": "lengths", "lengths": [{"source": 0, "target": 1, "length": "x"}]}, "length is 'x'"),
    "no prices": ({"kind": "prices"}, 'proof has no "prices"'),
    "no cuts": ({"kind": "prices", "prices": []}, 'proof has no "cuts"'),
    "another port": (
        {"kind": "prices", "prices": [{"port": "neither"}], "cuts": []},
        "proof.prices[0].port is 'neither'; this version supports 'send', 'receive', 'both', 'link'",
    ),
    "no link": (
        {"kind": "prices", "prices": [{"port": "link", "link": 99, "price": 1}], "cuts": []},
        "proof.prices[0].link is 99; expected an integer from 0 to 7",
    ),
    "no price": (
        {"kind": "prices", "prices": [{"port": "send", "node": 0, "price": "x"}], "cuts": []},
        "proof.prices[0].price 'x' is not a number",
    ),
    "no node in a cut": (
        {"kind": "prices", "prices": [], "cuts": [{"weight": 1, "nodes": [9]}]},
        "proof.cuts[0].nodes[0] is 9; expected an integer from 0 to 3",
    ),
}


@pytest.mark.parametrize("name", SPOILED)
def test_an_invalid_proof_is_refused_with_its_place(name: str) -> None:
    document, message = SPOILED[name]
    assert message in refusal(proof_from_document, document, build_topology("ring:nodes=4"), "proof")
