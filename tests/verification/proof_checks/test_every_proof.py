"""Every kind of proof: the verifier and the proof compute the same bound, schedules use it, and files contain it."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from proof_questions import ALLREDUCE, EXCHANGE, RING, SERIES, by_judge, by_proof, equal_roots
from test_proof_messages import THIRD, ring_dual, with_proof
from test_values import by_switch, without_ports

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import SCHEDULED, PhaseOp
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.oneport import compare_series
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.proof import (
    CutProof,
    PartitionProof,
    Proof,
    ReceiptProof,
    TreeDualProof,
    TreeLengthsProof,
    WeightedCut,
    proof_document,
    proof_from_document,
)
from forestcoll.schedule.proof.tree_dual import Roles
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.allreduce.tree_packing.distances import distance_proof
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import duplex_networks, examples, ranks_for, shards_for, uneven_networks, with_abilities
from oneport_platforms import figure_1
from verify_drafts import allreduce, ring

PHASES = (PhaseOp.REDUCE, PhaseOp.BROADCAST)
NETWORKS = st.builds(
    with_abilities, uneven_networks(most=6), st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3)
)


def checked_bound(proof: Proof, topology: Topology, demand: NodeDemand) -> Fraction | None:
    """Return the bound of the verifier, and check that the proof computes the same and is read back from JSON."""
    bound = by_judge(proof, topology, demand)
    assert bound == by_proof(proof, topology, demand)
    document = json.loads(json.dumps(proof_document(proof)))
    assert proof_from_document(document, topology, "certificate") == proof
    return bound


def ranks_of(data: st.DataObject, topology: Topology) -> tuple[int, ...] | None:
    places = data.draw(st.none() | ranks_for(topology))
    return places and tuple(topology.compute[place] for place in places)


@st.composite
def cuts_and_duals(draw: st.DrawFn, topology: Topology) -> Proof:
    """Return a proof of a bound along trees, which may be invalid."""
    nodes = range(len(topology.nodes))
    insides = st.sets(st.sampled_from(nodes)).map(lambda each: tuple(sorted(each)))
    weights = st.builds(Fraction, st.integers(0, 6), st.integers(1, 4))
    cuts = st.lists(st.builds(WeightedCut, st.sampled_from(PHASES), insides, weights), max_size=4)
    idle = st.sampled_from(topology.switches) if topology.switches else st.sampled_from(nodes)
    potentials = st.dictionaries(st.sampled_from(PHASES), st.dictionaries(idle, weights, max_size=2))
    duals = st.builds(lambda some, more: TreeDualProof(tuple(some), more), cuts, potentials)
    return draw(st.one_of(st.builds(CutProof, insides), st.just(ReceiptProof()), duals))


@examples(250)
@given(NETWORKS, st.data())
def test_the_verifier_and_the_proof_compute_the_same_bound(topology: Topology, data: st.DataObject) -> None:
    collective, ranks = data.draw(st.sampled_from(SCHEDULED)), ranks_of(data, topology)
    root = data.draw(st.sampled_from(ranks or topology.compute)) if collective.has_root else None
    shards = None
    if collective.has_shards and ranks is None and data.draw(st.booleans()):
        by_node = data.draw(shards_for(topology.compute))
        shards = tuple(by_node[node] for node in topology.compute)
    demand, proof = NodeDemand(collective, root, shards, ranks), data.draw(cuts_and_duals(topology))
    assert by_judge(proof, topology, demand) == by_proof(proof, topology, demand)


@examples(100)
@given(NETWORKS, st.data())
def test_lengths_of_trees_have_the_same_bound(topology: Topology, data: st.DataObject) -> None:
    lengths = st.lists(st.integers(0, 4), min_size=len(topology.links), max_size=len(topology.links))
    proof = TreeLengthsProof.of(topology, tuple(data.draw(lengths)))
    checked_bound(proof, topology, replace(ALLREDUCE, ranks=ranks_of(data, topology)))


@examples(60)
@given(uneven_networks(most=6), st.data())
def test_no_schedule_exceeds_the_bound_of_a_partition(topology: Topology, data: st.DataObject) -> None:
    ranks = data.draw(ranks_for(topology))
    members = [topology.compute[place] for place in ranks]
    count = data.draw(st.integers(2, len(members)))
    parts = [members[part::count] for part in range(count)]
    for node in set(range(len(topology.nodes))).difference(members):
        parts[data.draw(st.integers(0, count - 1))].append(node)
    proof = PartitionProof(tuple(tuple(sorted(part)) for part in parts))
    bound = checked_bound(proof, topology, replace(ALLREDUCE, ranks=tuple(members)))
    assert bound is not None
    try:
        best = optimum(topology, Demand("allreduce", ranks=ranks))
    except NoSolutionError:
        return
    assert best.algbw <= bound


@examples(60)
@given(duplex_networks(most=6), st.data())
def test_the_bound_of_distances_is_valid_and_near_the_bound_of_least_trees(
    topology: Topology, data: st.DataObject
) -> None:
    """No tree is shorter than the weight of all sets."""
    topology = with_abilities(
        topology, data.draw(st.lists(st.sampled_from([(True, True), (False, False)]), max_size=3))
    )
    pairs = {ends: data.draw(st.integers(0, 4)) for ends in ((link.source, link.target) for link in topology.links)}
    lengths = tuple(1 + pairs[min(ends, ends[::-1])] for ends in pairs)
    found = distance_proof(topology, tuple(map(Fraction, lengths)), SILENT)
    assert found is not None
    bound = checked_bound(found, topology, ALLREDUCE)
    exact = TreeLengthsProof.of(topology, lengths).algbw(topology, ALLREDUCE)
    assert bound is not None
    assert exact <= bound <= 2 * exact


@examples(40)
@given(uneven_networks(most=5), st.data())
def test_proofs_of_random_allreduces_are_checked(topology: Topology, data: st.DataObject) -> None:
    found = allreduce_optimum(topology)
    assert checked_bound(found.proof, topology, ALLREDUCE) == found.upper
    assert by_judge(found.proof.expanded(topology), topology, ALLREDUCE) == found.upper
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=len(topology.links), max_size=len(topology.links)))
    plan = allreduce_optimum(topology, Roles.of(topology)).plan
    assume(plan is not None)  # bandwidths that are too far apart
    assert plan is not None
    assert plan.rate <= TreeLengthsProof.of(topology, tuple(lengths)).algbw(topology, ALLREDUCE)


@pytest.mark.parametrize("spec", ["ring:nodes=8", "torus:dims=3x4", "mi250:boxes=2,gpus=4", "dgx-a100:boxes=2,gpus=4"])
def test_images_of_symmetric_sets_need_not_be_written_out(spec: str) -> None:
    topology = build_topology(spec).without_abilities()
    found = allreduce_optimum(topology)
    assert found.proof.symmetry.order > 1
    assert by_judge(found.proof, topology, ALLREDUCE) == found.upper
    assert by_judge(found.proof.expanded(topology), topology, ALLREDUCE) == found.upper


def test_lengths_and_prices_are_checked() -> None:
    topology = build_topology("torus:dims=3x4")
    found = optimum(topology, "all-to-all")
    assert checked_bound(found.bound.proof, topology, EXCHANGE) == found.algbw
    for network in (figure_1(), by_switch(), without_ports()):
        bound = compare_series(network, network.nodes[0].id).schedule().bound
        assert bound is not None
        assert checked_bound(bound.proof, network, SERIES) == bound.algbw


@pytest.mark.parametrize("proof", [ReceiptProof(), ring_dual()], ids=lambda proof: str(proof.kind))
def test_an_allreduce_that_reaches_a_bound_of_trees_is_optimal(proof: Proof, tmp_path: Path) -> None:
    schedule = with_proof(allreduce().freeze(), proof)
    report = verify(schedule)
    assert (report.fault, report.optimal, report.algbw, report.bound) == (None, True, THIRD, schedule.bound)
    assert report.proof == proof
    path = tmp_path / "schedule.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    assert f'"certificate": {{"proof": {{"kind": "{proof.kind}"' in path.read_text()


def test_a_weaker_bound_of_trees_is_accepted_and_a_wrong_one_refused() -> None:
    schedule = generate("dgx-h100:boxes=2,gpus=3", "allreduce:ranks='0-1,3-4'")
    proof = TreeLengthsProof.of(schedule.topology, (1,) * len(schedule.topology.links))
    best = proof.algbw(schedule.topology, schedule.demand)
    assert verify(with_proof(schedule, proof, best)).ok
    fault = verify(with_proof(schedule, proof, best - Fraction(1, 7))).fault
    assert fault is not None
    assert fault.rule == "certificate-bound"


def document(certificate: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(schedule_text(ring().freeze())))
    return found | {"certificate": certificate}


def test_a_cut_can_be_given_as_a_proof() -> None:
    schedule = ring().freeze()
    assert schedule.bound is not None
    named = document({"proof": proof_document(schedule.bound.proof)})
    assert schedule_from_document(named, where="x").bound == schedule.bound


def test_roots_in_a_document_are_equal_or_missing() -> None:
    document = proof_document(equal_roots())
    assert document["roots"] == "equal"
    assert proof_from_document(document, RING, "certificate") == equal_roots()
    with pytest.raises(InputError, match=r"certificate\.roots is 'any'; expected 'equal' or no such key"):
        proof_from_document({**document, "roots": "any"}, RING, "certificate")
