"""A cut proves that algbw <= exit bandwidth / the part of the data that must leave it.

If a member is inside and one outside, some part of the data must leave the cut. In an allgather or a broadcast, this
part is the shards inside, because a node outside needs them. In a reduce-scatter or a reduce, it is the shards of the
nodes outside, because a node inside adds to them. In an allreduce, it is all data, because the nodes outside need the
sums of the nodes inside. In a gather or a scatter, it is what nodes inside send to nodes outside. So no schedule is
faster, with or without switches that multicast or aggregate.
"""

from collections import Counter
from fractions import Fraction

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import CutProof
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError


def cut_bound(proof: CutProof, question: BoundQuestion) -> Fraction:
    """Return the algbw that a cut proves."""
    question.require_nodes(proof.inside, "the cut")
    if question.collective is Collective.ALL_TO_ALL:
        raise UnprovenError("a cut does not bound an all-to-all; lengths of links do")
    if members_inside(proof, question) in {0, len(question.members)}:
        raise UnprovenError("no compute node that takes part is inside the cut, or none is outside")
    part = must_leave(proof, question)
    if not part:
        raise UnprovenError("no part of the data must leave the cut")
    return exit_bandwidth(proof, question) / part


def members_inside(proof: CutProof, question: BoundQuestion) -> int:
    """Return how many members are inside."""
    return len(set(proof.inside).intersection(question.members))


def exit_bandwidth(proof: CutProof, question: BoundQuestion) -> Fraction:
    """Return the bandwidth of the links that leave the cut."""
    return question.network.exit_bandwidth(question.marks(proof.inside))


def must_leave(proof: CutProof, question: BoundQuestion) -> Fraction:
    """Return the part of the data that must leave the cut."""
    if question.collective is Collective.ALLREDUCE:
        return Fraction(1)
    if question.collective.is_personalised:
        inside = set(proof.inside)
        counts = Counter(part for source, target, part in question.pairs() if source in inside and target not in inside)
        return exact_sum(part * count for part, count in counts.items())
    inside, outwards = set(proof.inside), not question.collective.only_reduces
    parts = zip(question.members, question.parts, strict=True)
    return exact_sum(part for node, part in parts if (node in inside) == outwards)
