"""The whole message of each condition of a proof that fails, and of each fault of a bundle."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import test_conditions
import test_every_proof
import test_tree_distances
import test_tree_lengths
from test_conditions import question_of

import fault_lists
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import Proof
from forestcoll.topology import Topology
from forestcoll.verification import Fault, verify
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import UnprovenError
from verify_drafts import allreduce


def conditions() -> Iterator[tuple[Proof, Topology, NodeDemand]]:
    """Yield proofs that fail, each with its network and its operation."""
    yield from (each[:3] for each in test_conditions.UNPROVEN)
    yield from (each[:3] for each in test_tree_distances.WRONG)
    for proof, demand, _ in test_tree_lengths.UNPROVEN:
        yield proof, test_conditions.RING, demand


def of_condition(proof: Proof, topology: Topology, demand: NodeDemand) -> Fault | None:
    try:
        proven(proof, question_of(topology, demand))
    except UnprovenError as error:
        return Fault(proof.kind, str(error))
    return None


def test_every_message_of_a_condition() -> None:
    found = [(f"proof {number}", of_condition(*each)) for number, each in enumerate(conditions())]
    for number, (_, make, wrong, _) in enumerate(test_every_proof.WRONG):
        schedule = test_every_proof.with_proof(make(), wrong, Fraction(1, 3))
        found.append((f"schedule {number}", verify(schedule).fault))
        found.append((f"schedule {number}, no bound", verify(replace(schedule, bound=None)).fault))
    right = allreduce().freeze()
    for number, changed in enumerate(test_every_proof.changed_duals()):
        dual = test_every_proof.with_proof(right, changed, test_every_proof.THIRD)
        found.append((f"dual {number}", verify(dual).fault))
    fault_lists.check("proofs", found)
