"""Lengths of links and weights of sets bound an allreduce along trees.

Every link has an opposite link of the same bandwidth and length, and nodes copy if and only if they add up. So an
allreduce of rate r is a packing of undirected trees of total weight r, which share the bandwidth of each pair of links.
All sets contain one common member, which can be the root of each tree, and miss another member. So each tree leaves
each set, along a walk between two nodes that may branch. If no walk is shorter than the weight of the sets that it can
leave, no tree is shorter than the weight of all sets.
"""

from fractions import Fraction

import numpy as np

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import TreeDistancesProof
from forestcoll.verification.proof_checks.distances import least_sums
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError, require_coarse

Neighbours = dict[int, list[tuple[int, int]]]
"""For each node, the nodes at the other ends of its links, and the lengths of these links."""


def tree_distances_bound(proof: TreeDistancesProof, question: BoundQuestion) -> Fraction:
    """Return the algbw of an allreduce along trees that the lengths and the sets prove."""
    if question.collective is not Collective.ALLREDUCE:
        raise UnprovenError(f"distances bound an allreduce only, and this is {question.collective.with_article}")
    network = question.network
    adding, copying = (network.can_branch(op) for op in (PhaseOp.REDUCE, PhaseOp.BROADCAST))
    if not np.array_equal(adding, copying):
        raise UnprovenError("a switch can copy data and not add it up, or the reverse")
    used, neighbours = _lengths(proof, question)
    _check_sets(proof, question)
    branching = np.flatnonzero(copying).tolist()
    for source in branching:
        reached = least_sums({source: 0}, neighbours)
        for target in branching:
            left = (each for inside, each in proof.cuts if source in inside and target not in inside)
            weight = exact_sum(left)
            if target in reached and weight > reached[target]:
                raise UnprovenError(f"the sets between node {source} and node {target} weigh more than their distance")
    return used / exact_sum(weight for _, weight in proof.cuts)


def _lengths(proof: TreeDistancesProof, question: BoundQuestion) -> tuple[Fraction, Neighbours]:
    """Return the sum of bandwidth times length over pairs of usable links, and the links that leave each node."""
    lengths: dict[tuple[int, int], int] = {}
    for ends, length in zip(proof.ends, proof.lengths, strict=True):
        if length < 0 or ends in lengths:
            raise UnprovenError("a length is negative, or a link has two lengths")
        lengths[ends] = length
    if any(lengths.get(ends[::-1]) != length for ends, length in lengths.items()):
        raise UnprovenError("opposite links have different lengths")
    links = question.topology.links
    if not question.topology.link_numbers.keys() >= lengths.keys():
        raise UnprovenError("a length is given for a link that does not exist")
    usable = [link for link, is_usable in zip(links, question.usable.tolist(), strict=True) if is_usable]
    bandwidths = {(link.source, link.target): link.bandwidth for link in usable}
    twice, neighbours = Fraction(0), Neighbours()
    for (source, target), bandwidth in bandwidths.items():
        if bandwidths.get((target, source)) != bandwidth:
            raise UnprovenError("a link has no opposite link of the same bandwidth")
        length = lengths.get((source, target), 0)
        twice += bandwidth * length
        neighbours.setdefault(source, []).append((target, length))
    return twice / 2, neighbours


def _check_sets(proof: TreeDistancesProof, question: BoundQuestion) -> None:
    require_coarse([weight for _, weight in proof.cuts])
    members = set(question.members)
    common = set(members)
    for place, (inside, weight) in enumerate(proof.cuts):
        question.require_nodes(inside, f"set {place}")
        if weight <= 0:
            raise UnprovenError(f"the weight of set {place} is 0 or less")
        if members.issubset(inside):
            raise UnprovenError(f"set {place} contains all nodes that take part")
        common &= set(inside)
    if not proof.cuts or not common:
        raise UnprovenError("no node that takes part is in all sets, or there is no set")
