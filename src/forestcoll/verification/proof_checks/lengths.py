"""Lengths of links bound an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, appendix A.5).

In the time M / algbw, the flow of a pair of nodes uses at least what the pair exchanges times its distance. The links
allow at most the sum of bandwidth times length. So algbw is at most the second sum over the first one. In an all-to-all
of N nodes, each pair exchanges M/N.
"""

import heapq
from fractions import Fraction

from forestcoll.proof import LengthsProof
from forestcoll.verification.proof_checks.question import Question, UnprovenError


def lengths_bound(proof: LengthsProof, question: Question) -> Fraction:
    """Return the algbw of an all-to-all, a gather or a scatter that the lengths prove."""
    if not question.collective.is_personalised:
        named = question.collective.with_article
        raise UnprovenError(f"lengths bound an all-to-all, a gather or a scatter only, and this is {named}")
    links = {(link.source, link.target): link.bandwidth for link in question.topology.links}
    lengths: dict[tuple[int, int], int] = {}
    for ends, length in zip(proof.ends, proof.lengths, strict=True):
        if length < 0:
            raise UnprovenError("a length is negative")
        if ends not in links:
            raise UnprovenError("a length is given for a link that does not exist")
        if ends in lengths:
            raise UnprovenError("a link has two lengths")
        lengths[ends] = length
    used = sum((links[ends] * length for ends, length in lengths.items()), Fraction(0))
    apart = _all_distances(question, lengths)
    if not apart:
        raise UnprovenError("all distances are 0")
    return used / apart


def _all_distances(question: Question, lengths: dict[tuple[int, int], int]) -> Fraction:
    """Return the sum over all pairs of members of what they exchange times their distance."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for link in question.topology.links:
        leaving.setdefault(link.source, []).append((link.target, lengths.get((link.source, link.target), 0)))
    totals: dict[Fraction, int] = {}
    source, reached = -1, dict[int, int]()
    for one, other, part in question.pairs():
        if one != source:
            source, reached = one, _distances(leaving, one)
        if other not in reached:
            raise UnprovenError("a compute node does not reach another")
        totals[part] = totals.get(part, 0) + reached[other]
    return sum((part * total for part, total in totals.items()), Fraction(0))


def _distances(leaving: dict[int, list[tuple[int, int]]], source: int) -> dict[int, int]:
    """Return the distance from `source` to each node that it reaches (Dijkstra)."""
    reached: dict[int, int] = {}
    waiting = [(0, source)]
    while waiting:
        distance, node = heapq.heappop(waiting)
        if node not in reached:
            reached[node] = distance
            for target, length in leaving.get(node, []):
                if target not in reached:
                    heapq.heappush(waiting, (distance + length, target))
    return reached
