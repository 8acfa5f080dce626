"""Lengths of links bound an allreduce along trees.

A tree of rate r and root v uses, in both phases together, at least r times the least length of an in-tree and an
out-tree of v that join all members. The links allow at most the sum of bandwidth times length.

The least length from a node to a set of members is found for growing sets (Erickson, Monma and Veinott, 1987): at nodes
that may branch, two disjoint parts of the set meet; then one search of shortest paths carries the sums to all nodes.
"""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import TreeLengthsProof
from forestcoll.verification.proof_checks.distances import Arcs, least_sums
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError

MOST_MEMBERS = 12
"""The most members; the time triples with each."""


def tree_lengths_bound(proof: TreeLengthsProof, question: BoundQuestion) -> Fraction:
    """Return the algbw of an allreduce along trees that the lengths prove."""
    if question.collective is not Collective.ALLREDUCE:
        raise UnprovenError(f"lengths of trees bound an allreduce only, and this is {question.collective.with_article}")
    if len(question.members) > MOST_MEMBERS:
        raise UnprovenError(f"{len(question.members)} nodes take part, and least trees need {MOST_MEMBERS} at most")
    lengths: dict[tuple[int, int], int] = {}
    for ends, length in zip(proof.ends, proof.lengths, strict=True):
        if length < 0:
            raise UnprovenError("a length is negative")
        if ends in lengths:
            raise UnprovenError("a link has two lengths")
        lengths[ends] = length
    used, entering, leaving = Fraction(0), dict[int, list[tuple[int, int]]](), dict[int, list[tuple[int, int]]]()
    for link, is_usable in zip(question.topology.links, question.usable.tolist(), strict=True):
        length = lengths.pop((link.source, link.target), 0)
        if is_usable:
            used += link.bandwidth * length
            entering.setdefault(link.target, []).append((link.source, length))
            leaving.setdefault(link.source, []).append((link.target, length))
    if lengths:
        raise UnprovenError("a length is given for a link that does not exist")
    adding, copying = (
        set(np.flatnonzero(question.network.can_branch(op)).tolist()) for op in (PhaseOp.REDUCE, PhaseOp.BROADCAST)
    )
    outwards, inwards = _least(question.members, copying, entering), _least(question.members, adding, leaving)
    both = [outwards[node] + inwards[node] for node in copying & adding & outwards.keys() & inwards.keys()]
    if not both or min(both) == 0:
        raise UnprovenError("a tree has length 0, or there is no tree")
    return used / min(both)


def _least(members: tuple[int, ...], branching: Collection[int], sources: Arcs) -> dict[int, int]:
    """Return, for each node, the least length of a tree from it to all members, if there is one."""
    least: dict[int, dict[int, int]] = {}
    for held in range(1, 2 ** len(members)):
        is_single = held & (held - 1) == 0
        begin = {members[held.bit_length() - 1]: 0} if is_single else _joined(least, held, branching)
        least[held] = least_sums(begin, sources)
    return least[2 ** len(members) - 1]


def _joined(least: Mapping[int, Mapping[int, int]], held: int, branching: Collection[int]) -> dict[int, int]:
    """Return, for each node that may branch, the least sum of two trees that reach `held` together."""
    sums: dict[int, int] = {}
    for part in _halves(held):
        one, other = least[part], least[held ^ part]
        for node in branching:
            if node in one and node in other:
                total = one[node] + other[node]
                sums[node] = min(total, sums.get(node, total))
    return sums


def _halves(held: int) -> Iterator[int]:
    """Yield one part of each division of a set into two parts: the part with its greatest element."""
    top = 1 << (held.bit_length() - 1)
    rest = part = held ^ top
    while part:
        part = (part - 1) & rest
        yield part | top
