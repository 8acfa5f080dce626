"""The rules about the bound that a schedule claims, the same for all kinds of schedules.

The proof must be of a kind that bounds such schedules. It must prove exactly the claimed bound. The schedule must not
beat the bound. Each rule returns a message that says what is wrong, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.schedule.proof import CutProof, Proof
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification import wording
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks import cut
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from forestcoll.verification.rule import Rule


@dataclass(frozen=True)
class Claim:
    """The bound that a schedule claims, and the bandwidth that it achieves.

    Attributes:
        schedule: a schedule that delivers all data.
        network: its topology.
        achieved: its algbw, computed from its loads; None if no data crosses any link.
        proofs: the kinds of proofs that bound such schedules.
    """

    schedule: Schedule
    network: Network
    achieved: Fraction | None
    proofs: tuple[type[Proof], ...]

    @property
    def proof(self) -> Proof | None:
        """The proof in the schedule, or None."""
        return None if self.schedule.bound is None else self.schedule.bound.proof

    @cached_property
    def question(self) -> BoundQuestion:
        """The operation and the network that the bound is about."""
        return BoundQuestion.of(self.schedule, self.network)

    @cached_property
    def proven(self) -> Fraction:
        """The bound that the proof proves. Raises `UnprovenError` if it proves none."""
        if self.proof is None:
            raise UnprovenError("there is no proof")
        return proven(self.proof, self.question)


def is_optimal(schedule: Schedule, achieved: Fraction | None) -> bool:
    """Return whether a schedule that keeps all rules reaches the bound that it claims."""
    return schedule.bound is not None and achieved == schedule.bound.algbw


def wrong_collective(claim: Claim) -> str | None:
    """Find a bound of another collective."""
    bound, collective = claim.schedule.bound, claim.schedule.collective
    if bound is None or bound.collective is collective:
        return None
    return f"the bound is one of {bound.collective.with_article}; expected one of {collective.with_article}"


def wrong_kind(claim: Claim) -> str | None:
    """Find a proof of a kind that does not bound such schedules."""
    if claim.proof is None or isinstance(claim.proof, claim.proofs):
        return None
    known = " or ".join(repr(each.kind) for each in claim.proofs)
    return f"the certificate is a proof of kind {claim.proof.kind!r}; expected {known}"


def _of_cut(find: Callable[[CutProof, Claim], str | None]) -> Callable[[Claim], str | None]:
    """Return a rule that applies `find` to proofs by a cut and accepts all others."""
    return lambda claim: find(claim.proof, claim) if isinstance(claim.proof, CutProof) else None


def _node_wrong(proof: CutProof, claim: Claim) -> str | None:
    """Find an entry of the cut that is not the number of a node, or a repetition."""
    seen: set[int] = set()
    for position, number in enumerate(proof.inside):
        if not 0 <= number < claim.network.size:
            expected = f"expected 0 to {claim.network.size - 1}"
            return f"cut: position {position} holds node number {number}; {expected}"
        if number in seen:
            name = wording.node(claim.network.topology, number)
            return f"cut: position {position} holds {name} again; expected each node at most once"
        seen.add(number)
    return None


def _none_inside(proof: CutProof, claim: Claim) -> str | None:
    """Find a cut without a member."""
    if cut.members_inside(proof, claim.question):
        return None
    member = wording.a_member(claim.schedule.ranks)
    return f"cut: none of its {len(proof.inside)} nodes is {member}; expected one or more"


def _none_outside(proof: CutProof, claim: Claim) -> str | None:
    """Find a cut that contains every member."""
    count = len(claim.question.members)
    if cut.members_inside(proof, claim.question) < count:
        return None
    return f"cut: contains all {count} {wording.members(claim.schedule.ranks)}; expected one or more outside"


def _no_exit(proof: CutProof, claim: Claim) -> str | None:
    """Find a cut that no link leaves."""
    if cut.exit_bandwidth(proof, claim.question) > 0:
        return None
    return f"cut: no link leaves its {len(proof.inside)} nodes; expected an exit bandwidth of more than 0"


def _nothing_leaves(proof: CutProof, claim: Claim) -> str | None:
    """Find a cut that no data needs to leave."""
    if cut.must_leave(proof, claim.question) > 0:
        return None
    side = "outside" if claim.schedule.collective.only_reduces else "inside"
    empty = f"none of the {wording.members(claim.schedule.ranks)} {side} has a shard, so no data must leave the cut"
    return f"cut: {empty}; expected one or more"


def unproven(claim: Claim) -> str | None:
    """Find a proof whose numbers prove no bound."""
    if claim.proof is None:
        return None
    try:
        _ = claim.proven
    except UnprovenError as failure:
        return f"the proof of kind {claim.proof.kind!r} proves no bound: {failure}"
    return None


def bound_wrong(claim: Claim) -> str | None:
    """Find a proof that proves another bound than the schedule claims."""
    bound = claim.schedule.bound
    if bound is None or bound.algbw == claim.proven:
        return None
    return f"optimal_algbw is {wording.number(bound.algbw)}, but {_proven_by(bound.proof, claim)}"


def beaten(claim: Claim) -> str | None:
    """Find a schedule that is faster than the proven bound."""
    if claim.proof is None or claim.achieved is None or claim.achieved <= claim.proven:
        return None
    return f"the schedule achieves {wording.number(claim.achieved)}, but {_proven_by(claim.proof, claim)}"


def _proven_by(proof: Proof, claim: Claim) -> str:
    """Return in words which bound the proof proves, and how."""
    if not isinstance(proof, CutProof):
        return f"the proof of kind {proof.kind!r} proves {wording.number(claim.proven)}"
    question, nodes = claim.question, wording.nodes(claim.network.topology, proof.inside)
    leaving, part = (wording.number(find(proof, question)) for find in (cut.exit_bandwidth, cut.must_leave))
    count = f"{cut.members_inside(proof, question)} of {len(question.members)}"
    holds = f"contains {count} {wording.members(claim.schedule.ranks)} and has exit bandwidth {leaving}"
    formula = f"{part} of the data must leave it: expected {leaving} / ({part}) = {wording.number(claim.proven)}"
    return f"the cut ({nodes}) {holds}; {formula}"


FORM: tuple[Rule[Claim], ...] = (
    Rule("certificate-collective", "The claimed bound is a bound of the schedule's collective.", wrong_collective),
    Rule("certificate-kind", "The proof of the bound is of a kind that bounds such schedules.", wrong_kind),
    Rule("certificate-cut", "The entries of the cut are numbers of nodes, each at most once.", _of_cut(_node_wrong)),
    Rule("certificate-inside", "A compute node that takes part is inside the cut.", _of_cut(_none_inside)),
    Rule("certificate-outside", "A compute node that takes part is outside the cut.", _of_cut(_none_outside)),
    Rule("certificate-exit", "The links that leave the cut have an exit bandwidth above 0.", _of_cut(_no_exit)),
)
"""The rules about the form of a certificate."""

BEATEN: Rule[Claim] = Rule("certificate-beaten", "algbw is not above the bound that the certificate proves.", beaten)
UNPROVEN: Rule[Claim] = Rule("certificate-proof", "The numbers of a proof meet the conditions of its kind.", unproven)


def bound_rules(part: str) -> tuple[Rule[Claim], ...]:
    """Return the rules about the proven bound.

    Args:
        part: the part of the data that must leave a cut, in words; empty for all data.
    """
    formula = f"(exit bandwidth of the cut) / ({part})" if part else "its exit bandwidth"
    exact = f"optimal_algbw is exactly the bound that the certificate proves; a cut proves {formula}."
    leaves = Rule("certificate-data", f"Some data must leave the cut: {part}.", _of_cut(_nothing_leaves))
    return (*((leaves,) if part else ()), UNPROVEN, Rule("certificate-bound", exact, bound_wrong), BEATEN)
