"""One function checks all kinds of proofs; the table `CHECKS` is the one place that knows them.

The checks read the numbers that a proof holds and add them up on their own. They never call `Proof.algbw`, so that an
error there is found.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from forestcoll.proof import CutProof, LengthsProof, PricesProof, Proof, ReceiptProof, TreeDualProof
from forestcoll.verification.proofs.cut import cut_bound
from forestcoll.verification.proofs.lengths import lengths_bound
from forestcoll.verification.proofs.prices import prices_bound
from forestcoll.verification.proofs.question import Question, UnprovenError
from forestcoll.verification.proofs.receipt import receipt_bound
from forestcoll.verification.proofs.tree_dual import tree_dual_bound

CHECKS: dict[type[Proof], Callable[[Any, Question], Fraction]] = {
    CutProof: cut_bound,
    ReceiptProof: receipt_bound,
    TreeDualProof: tree_dual_bound,
    LengthsProof: lengths_bound,
    PricesProof: prices_bound,
}
"""What each kind of proof proves."""


def proven(proof: Proof, question: Question) -> Fraction:
    """Return the algbw that `proof` proves no schedule of its kinds beats.

    Raises:
        UnprovenError: the numbers of the proof do not meet its conditions.
    """
    if type(proof) not in CHECKS:
        raise UnprovenError(f"no judge knows proofs of kind {proof.kind!r}")
    return CHECKS[type(proof)](proof, question)
