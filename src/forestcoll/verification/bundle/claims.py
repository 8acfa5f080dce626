"""The claim of a bundle about its bound: all groups together cannot be faster."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.proof import GroupLengthsProof
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.group_lengths import groups_bound
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from forestcoll.verification.wording import number


@dataclass(frozen=True)
class BundleClaim:
    """The bound that a bundle claims, and the bandwidth that it achieves.

    Attributes:
        schedule: a bundle whose members deliver all data.
        network: its topology.
        achieved: its algbw, computed from its loads.
    """

    schedule: BundleSchedule
    network: Network
    achieved: Fraction

    @cached_property
    def proven(self) -> Fraction:
        """The bound that the proof proves. Raises `UnprovenError` if it proves none."""
        proof = None if self.schedule.bound is None else self.schedule.bound.proof
        if not isinstance(proof, GroupLengthsProof):
            raise UnprovenError("there is no proof by lengths for groups")
        members = self.schedule.bundled
        return groups_bound(proof, [(each.size, BoundQuestion.of(each.schedule, self.network)) for each in members])


def wrong_kind(claim: BundleClaim) -> str | None:
    """Find a proof of a kind that does not bound bundles."""
    bound = claim.schedule.bound
    if bound is None or isinstance(bound.proof, GroupLengthsProof):
        return None
    return f"the certificate is a proof of kind {bound.proof.kind!r}; expected {GroupLengthsProof.kind!r}"


def unproven(claim: BundleClaim) -> str | None:
    """Find a proof whose numbers prove no bound."""
    if claim.schedule.bound is None:
        return None
    try:
        _ = claim.proven
    except UnprovenError as failure:
        return f"the proof of kind {GroupLengthsProof.kind!r} proves no bound: {failure}"
    return None


def bound_wrong(claim: BundleClaim) -> str | None:
    """Find a proof that proves another bound than the bundle claims."""
    bound = claim.schedule.bound
    if bound is None or bound.algbw == claim.proven:
        return None
    return f"optimal_algbw is {number(bound.algbw)}, but the proof proves {number(claim.proven)}"


def beaten(claim: BundleClaim) -> str | None:
    """Find a bundle that is faster than the proven bound."""
    if claim.schedule.bound is None or claim.achieved <= claim.proven:
        return None
    return f"the bundle achieves {number(claim.achieved)}, but the proof proves {number(claim.proven)}"
