"""One function checks all kinds of proofs. The table `CHECKS` is the only place that lists them.

The checks read the numbers of a proof and add them up themselves. They never call `Proof.algbw`, so that they find an
error there.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from forestcoll.schedule.proof import (
    CutProof,
    GroupLengthsProof,
    LengthsProof,
    PartitionProof,
    PricesProof,
    Proof,
    ReceiptProof,
    TreeDistancesProof,
    TreeDualProof,
    TreeLengthsProof,
)
from forestcoll.verification.proof_checks.cut import cut_bound
from forestcoll.verification.proof_checks.group_lengths import group_lengths_bound
from forestcoll.verification.proof_checks.lengths import lengths_bound
from forestcoll.verification.proof_checks.partition import partition_bound
from forestcoll.verification.proof_checks.prices import prices_bound
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from forestcoll.verification.proof_checks.receipt import receipt_bound
from forestcoll.verification.proof_checks.tree_distances import tree_distances_bound
from forestcoll.verification.proof_checks.tree_dual import tree_dual_bound
from forestcoll.verification.proof_checks.tree_lengths import tree_lengths_bound

CHECKS: dict[type[Proof], Callable[[Any, BoundQuestion], Fraction]] = {
    CutProof: cut_bound,
    ReceiptProof: receipt_bound,
    TreeDualProof: tree_dual_bound,
    PartitionProof: partition_bound,
    TreeLengthsProof: tree_lengths_bound,
    GroupLengthsProof: group_lengths_bound,
    TreeDistancesProof: tree_distances_bound,
    LengthsProof: lengths_bound,
    PricesProof: prices_bound,
}
"""The function that computes the proven bound, for each kind of proof."""

PROOFS_OF_TREES: tuple[type[Proof], ...] = (
    CutProof,
    ReceiptProof,
    TreeDualProof,
    PartitionProof,
    TreeLengthsProof,
    TreeDistancesProof,
)
"""The kinds of proofs that bound schedules whose data moves along trees."""

PROOFS_OF_EXCHANGES: tuple[type[Proof], ...] = (CutProof, LengthsProof)
"""The kinds of proofs that bound collectives whose pairs of nodes exchange data of their own."""


def proven(proof: Proof, question: BoundQuestion) -> Fraction:
    """Return the algbw of which `proof` proves that no schedule beats it.

    Raises:
        UnprovenError: the numbers of the proof do not meet its conditions.
    """
    if type(proof) not in CHECKS:
        raise UnprovenError(f"there is no check for proofs of kind {proof.kind!r}")
    return CHECKS[type(proof)](proof, question)
