"""Lengths of links bound an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, appendix A.5).

In the time M / algbw, the flow of a pair of nodes uses at least what the pair exchanges times its distance. The links
allow at most the sum of bandwidth times length. So algbw is at most the second sum over the first one. In an all-to-all
of N nodes, each pair exchanges M/N.
"""

from fractions import Fraction
from itertools import groupby
from operator import itemgetter

from forestcoll.base.exact import exact_sum
from forestcoll.schedule.proof import LengthsProof
from forestcoll.verification.proof_checks.distances import least_sums
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError


def lengths_bound(proof: LengthsProof, question: BoundQuestion) -> Fraction:
    """Return the algbw of an all-to-all, a gather or a scatter that the lengths prove."""
    if not question.collective.is_personalised:
        named = question.collective.with_article
        raise UnprovenError(f"lengths bound an all-to-all, a gather or a scatter only, and this is {named}")
    links = question.topology.bandwidths
    lengths: dict[tuple[int, int], int] = {}
    for ends, length in zip(proof.ends, proof.lengths, strict=True):
        if length < 0:
            raise UnprovenError("a length is negative")
        if ends not in links:
            raise UnprovenError("a length is given for a link that does not exist")
        if ends in lengths:
            raise UnprovenError("a link has two lengths")
        lengths[ends] = length
    used = exact_sum(links[ends] * length for ends, length in lengths.items())
    apart = _all_distances(question, lengths)
    if not apart:
        raise UnprovenError("all distances are 0")
    return used / apart


def _all_distances(question: BoundQuestion, lengths: dict[tuple[int, int], int]) -> Fraction:
    """Return the sum over all pairs of members of what they exchange times their distance."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for link in question.topology.links:
        leaving.setdefault(link.source, []).append((link.target, lengths.get((link.source, link.target), 0)))
    totals: dict[Fraction, int] = {}
    for source, pairs in groupby(question.pairs(), key=itemgetter(0)):
        reached = least_sums({source: 0}, leaving)
        for part, equal in groupby(pairs, key=itemgetter(2)):
            targets = [target for _, target, _ in equal]
            if not set(targets).issubset(reached):
                raise UnprovenError("a compute node does not reach another")
            totals[part] = totals.get(part, 0) + sum(map(reached.__getitem__, targets))
    return exact_sum(part * total for part, total in totals.items())
