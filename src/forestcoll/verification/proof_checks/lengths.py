"""Lengths of links bound an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, appendix A.5).

If every two of N compute nodes exchange a flow of f, the flows use at least f times the sum of all distances. The links
allow at most the sum of bandwidth times length. The buffer of a node is N blocks, so algbw is N f.
"""

import heapq
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.proof import LengthsProof
from forestcoll.verification.proof_checks.question import Question, UnprovenError


def lengths_bound(proof: LengthsProof, question: Question) -> Fraction:
    """Return the algbw of an all-to-all that the lengths prove."""
    if question.collective is not Collective.ALL_TO_ALL:
        raise UnprovenError(f"lengths bound an all-to-all only, and this is {question.collective.with_article}")
    if len(set(question.parts)) > 1:
        raise UnprovenError("lengths bound an all-to-all of equal blocks only")
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
    return len(question.members) * used / apart


def _all_distances(question: Question, lengths: dict[tuple[int, int], int]) -> int:
    """Return the sum of the distances between all ordered pairs of members."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for link in question.topology.links:
        leaving.setdefault(link.source, []).append((link.target, lengths.get((link.source, link.target), 0)))
    total = 0
    for source in question.members:
        reached = _distances(leaving, source)
        if not reached.keys() >= set(question.members):
            raise UnprovenError("a compute node does not reach another")
        total += sum(reached[node] for node in question.members)
    return total


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
