"""Lengths of links bound collectives that run at the same time, along trees or flows.

A group of size m whose data moves at m times the rate r needs at least m r t of the sum of bandwidth times length,
where t is what its trees need per unit of its data: for each root, its part of the data times the least length of a
tree that joins all members. In an allreduce, t is the least sum of an in-tree and an out-tree of one root; if it has
sources and targets, the in-tree joins the sources, and the out-tree the targets. If several sources of a broadcast have
all data, a tree may start at any of them: they are one node, whose distance to another is the least of theirs. In an
all-to-all, a gather or a scatter, t is the sum over all pairs of what they exchange times their distance. The links
allow at most the sum of bandwidth times length, so r is at most this sum over the sum of all m t.

For up to `MOST_MEMBERS` members, least lengths are found for growing sets of members (Erickson, Monma and Veinott,
1987). For more members, a smaller number is used: each other node that may branch is merged with the member that is
nearest, there and back together (the first of equal ones). This can only make trees shorter. In the merged graph, the
least tree is a least arborescence: pay for the arcs into each set that no other node reaches for free, until one
of them is paid in full, and add up the payments (Edmonds, 1967).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import GroupLengthsProof
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError

MOST_MEMBERS = 10
"""The most members for which trees are computed exactly; the time triples with each."""

Matrix: TypeAlias = npt.NDArray[Any]
"""Exact integers: int64, or Python's own in an array of objects."""

_SMALL = 2**50
"""Numbers below this fit 64 bits also when thousands of them are added."""


def group_lengths_bound(proof: GroupLengthsProof, question: BoundQuestion) -> Fraction:
    """Return the algbw of one collective that the lengths prove."""
    return groups_bound(proof, [(Fraction(1), question)])


def groups_bound(proof: GroupLengthsProof, groups: Sequence[tuple[Fraction, BoundQuestion]]) -> Fraction:
    """Return the algbw, for size 1, that the lengths prove for groups with their sizes, all on one network."""
    question = groups[0][1]
    bandwidths = question.topology.bandwidths
    if any(length < 0 for length in proof.lengths):
        raise UnprovenError("a length is negative")
    if len(set(proof.ends)) < len(proof.ends):
        raise UnprovenError("a link has two lengths")
    if not bandwidths.keys() >= set(proof.ends):
        raise UnprovenError("a length is given for a link that does not exist")
    lengths = dict(zip(proof.ends, proof.lengths, strict=True))
    used = exact_sum(bandwidths[ends] * length for ends, length in lengths.items())
    far = 2 * question.network.size * sum(lengths.values()) + 1
    least = _Least(_distances(question, lengths, far))
    needed = Fraction(0)
    for size, each in groups:
        needed += size * _needed(each, least, far)
    if needed <= 0:
        raise UnprovenError("all trees have length 0")
    return used / needed


def _distances(question: BoundQuestion, lengths: dict[tuple[int, int], int], far: int) -> Matrix:
    """Return the distances of all pairs of nodes: walks of 1, 2, 4, ... links, until nothing gets shorter."""
    size = question.network.size
    apart: Matrix = np.full((size, size), far, dtype=np.int64 if far < _SMALL else object)
    for link in question.topology.links:
        apart[link.source, link.target] = lengths.get((link.source, link.target), 0)
    np.fill_diagonal(apart, 0)
    while True:
        closer = apart.copy()
        for row in range(size):
            closer[row] = np.minimum(apart[row], (apart[row][:, None] + apart).min(axis=0))
        if np.array_equal(closer, apart):
            return apart
        apart = closer


def _needed(question: BoundQuestion, least: "_Least", far: int) -> Fraction:
    """Return what the trees of a group need per unit of its data."""
    collective = question.collective
    if collective.is_personalised:
        pairs = question.pairs()
        return exact_sum(part * _joined(int(least.apart[one, other]), far) for one, other, part in pairs)
    adding, copying = (
        tuple(np.flatnonzero(question.network.can_branch(op)).tolist()) for op in (PhaseOp.REDUCE, PhaseOp.BROADCAST)
    )
    sources, targets = question.sources or question.members, question.targets or question.members
    if collective is Collective.ALLREDUCE:
        outwards, inwards = least.of(targets, copying), least.of(sources, adding, inward=True)
        return _joined(min(outwards[node] + inwards[node] for node in outwards.keys() & inwards.keys()), far)
    if question.sources is not None:
        return _joined(_from_any(question.sources, targets, copying, least.apart), far)
    inward = collective.only_reduces
    lengths = least.of(question.members, adding if inward else copying, inward=inward)
    parts = zip(question.members, question.parts, strict=True)
    return exact_sum(part * _joined(lengths[node], far) for node, part in parts if part)


def _from_any(sources: Sequence[int], targets: Sequence[int], branching: Sequence[int], apart: Matrix) -> int:
    """Return the least length of trees from the sources that reach all targets, or a lower limit of it."""
    one = sources[0]
    merged = apart.copy()
    merged[one], merged[:, one] = apart[list(sources)].min(axis=0), apart[:, list(sources)].min(axis=1)
    return _least(merged, branching, [one, *(node for node in targets if node not in sources)])[one]


class _Least:
    """The least lengths of trees for given distances; groups with the same members share them."""

    def __init__(self, apart: Matrix) -> None:
        self.apart = apart
        self._found: dict[tuple[object, ...], dict[int, int]] = {}

    def of(self, members: tuple[int, ...], branching: tuple[int, ...], *, inward: bool = False) -> dict[int, int]:
        """Return, for each node that may branch, the least length of a tree that joins it with all members."""
        key = (members, branching, inward)
        if key not in self._found:
            self._found[key] = _least(self.apart.T if inward else self.apart, branching, members)
        return self._found[key]


def _joined(length: int, far: int) -> Fraction:
    if length >= far:
        raise UnprovenError("there is no tree")
    return Fraction(length)


def _least(apart: Matrix, branching: Sequence[int], members: Sequence[int]) -> dict[int, int]:
    """Return, for each node that may branch, the least length of a tree from it to all members, or a lower limit."""
    if len(members) <= MOST_MEMBERS:
        return dict(zip(branching, _steiner(apart, branching, members).tolist(), strict=True))
    place_of = _merged(apart, branching, members)
    arcs = [[_between(apart, one, other) for other in place_of.values()] for one in place_of.values()]
    table = np.array(arcs, dtype=apart.dtype)
    paid = [_paid(table, place) for place in range(len(members))]
    return {node: paid[place] for place, nodes in enumerate(place_of.values()) for node in nodes}


def _steiner(apart: Matrix, branching: Sequence[int], members: Sequence[int]) -> Matrix:
    """Return the least length of a tree from each node that may branch to all members."""
    between = apart[np.ix_(branching, branching)]
    least: dict[int, Matrix] = {}
    for held in range(1, 2 ** len(members)):
        if held & (held - 1) == 0:
            least[held] = apart[np.ix_(branching, [members[held.bit_length() - 1]])][:, 0]
            continue
        top = 1 << (held.bit_length() - 1)
        met, part = None, held ^ top
        while part:
            sums = least[part] + least[held ^ part]
            met = sums if met is None else np.minimum(met, sums)
            part = (part - 1) & (held ^ top)
        least[held] = (between + met).min(axis=1)
    return least[2 ** len(members) - 1]


def _merged(apart: Matrix, branching: Sequence[int], members: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each member, the nodes that are merged with it, itself among them."""
    nodes_of: dict[int, list[int]] = {member: [member] for member in members}
    for node in branching:
        if node not in members:
            around = [int(apart[member, node]) + int(apart[node, member]) for member in members]
            nodes_of[members[around.index(min(around))]].append(node)
    return nodes_of


def _between(apart: Matrix, one: Sequence[int], other: Sequence[int]) -> int:
    return int(apart[np.ix_(one, other)].min())


def _paid(arcs: Matrix, root: int) -> int:
    """Return the length of the least arborescence: the payments until the root reaches all nodes for free."""
    rest, total = arcs.copy(), 0
    while True:
        reaches = _closure(rest == 0)
        if reaches[root].all():
            return total
        both = reaches & reaches.T
        for node in np.flatnonzero(~reaches[root] & (reaches == both).all(axis=0)).tolist():
            inside = both[node]
            if int(np.argmax(inside)) == node:  # the first node of a set that no node outside reaches
                entering = rest[np.ix_(~inside, inside)]
                paid = entering.min()
                total += int(paid)
                rest[np.ix_(~inside, inside)] = entering - paid


def _closure(reaches: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which node reaches which along any number of arcs."""
    reaches = reaches | np.eye(len(reaches), dtype=np.bool_)
    while True:
        steps = reaches.astype(np.float32)
        further = steps @ steps > 0.5  # sums of products of 0 and 1, so the comparison is exact
        if np.array_equal(further, reaches):
            return reaches
        reaches = further
