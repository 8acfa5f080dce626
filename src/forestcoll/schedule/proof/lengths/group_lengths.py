"""Lengths of links, which prove a bound of collectives that run at the same time, along trees or flows.

Let group g have size m, and let t(g) be the length that its trees need per unit of its data: in an allgather or a
broadcast, the sum over the roots of their part of the data times the shortest out-tree that joins all members; in a
reduce-scatter or a reduce, the same with in-trees; in an allreduce, the least sum of an in-tree and an out-tree of one
root; in an all-to-all, a gather or a scatter, the sum over all pairs of what they exchange times their distance. In an
allreduce with sources and targets, the in-tree joins the sources, and the out-tree the targets. In a broadcast whose
data several sources have, the trees start at any of them: the sources count as one node (`topology.metric`). If all
groups together finish at the rate r for size 1, then

    r * (sum over groups of m t(g))  <=  sum over links of bandwidth times length.

Trees may branch at all compute nodes, and at switches that copy (out-trees) or add up data (in-trees).
`topology.least_trees` finds the shortest trees of a group with few members. For a larger group,
`topology.least_arborescences` finds a lower limit of their lengths, with which the bound holds, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof.lengths.link_lengths import LinkLengths, total_length
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_arborescences import LeastArborescences
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Lengths, Metric, merged

MOST_MEMBERS = 10
"""The most nodes that a tree joins for which shortest trees are found; the time triples with each."""

_LARGEST = 2**50
"""The greatest distance that is computed in 64-bit integers; sums have fewer than 2^12 of them."""


@dataclass(frozen=True, repr=False)
class GroupLengthsProof(LinkLengths):
    """Lengths of links that bound collectives that run at the same time, along trees or flows.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> best = optimum("ring:nodes=4", Groups("0,2;1,3"))
        >>> str(best.algbw), str(best.bound.proof.algbw_of_groups(best.topology, best.groups))
        ('2', '2')
    """

    kind: ClassVar[str] = "group-lengths"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        return self._words("each group needs at least its shortest trees or paths", "the lengths of these")

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        """See `Proof.algbw`: the bound of one collective that runs alone."""
        return self.algbw_of_groups(topology, [Group(demand)])

    def algbw_of_groups(self, topology: Topology, groups: Sequence[Group]) -> Fraction:
        """Return the greatest algbw, for size 1, of groups that run at the same time.

        Args:
            topology: the network.
            groups: the groups.

        Raises:
            ProofError: the lengths are not valid for this network.
        """
        length_of = self.length_of(topology)
        trees = _Trees(topology, length_of)
        needed = sum((group.size * trees.needed(group.demand) for group in groups), Fraction(0))
        if needed <= 0:
            raise ProofError("all trees have length 0, or there is no tree")
        return total_length(topology, length_of) / needed


class _Trees:
    """The lengths of the shortest trees of demands on one network."""

    def __init__(self, topology: Topology, length_of: Mapping[tuple[int, int], int]) -> None:
        self._topology = topology
        self._far = 2 * len(topology.nodes) * sum(length_of.values()) + 1
        listed = [length_of.get((link.source, link.target), 0) for link in topology.links]
        lengths = np.array(listed, dtype=np.int64 if self._far < _LARGEST else object)
        outward = Metric(topology, lengths, self._far).distances
        self._distances: dict[PhaseOp, Lengths] = {
            PhaseOp.BROADCAST: outward,
            PhaseOp.REDUCE: np.ascontiguousarray(outward.T),
        }
        self._branching = {op: branching_nodes(topology, op) for op in PhaseOp}
        self._found: dict[tuple[PhaseOp, tuple[int, ...]], LeastTrees | LeastArborescences] = {}

    def needed(self, demand: NodeDemand) -> Fraction:
        """Return the length that the trees or flows of a demand need per unit of its data, or a lower limit of it."""
        members, collective = demand.members(self._topology), demand.collective
        if collective.is_personalised:
            sent = zip(members, demand.sent(self._topology), strict=True)
            pairs = ((source, target, part) for source, targets in sent for target, part in targets.items())
            apart = self._distances[PhaseOp.BROADCAST]
            return sum((part * self._within(int(apart[source, target])) for source, target, part in pairs), Fraction(0))
        if collective is Collective.ALLREDUCE:
            both = [self._least(op, demand.joined(self._topology, op)) for op in (PhaseOp.REDUCE, PhaseOp.BROADCAST)]
            roots = sorted(set.intersection(*(set(nodes) for nodes in self._branching.values())))
            return self._within(min(int(both[0].length(root)) + int(both[1].length(root)) for root in roots))
        if demand.holders is not None:
            joined = demand.joined(self._topology, PhaseOp.BROADCAST)
            distances, branching = self._distances[PhaseOp.BROADCAST], self._branching[PhaseOp.BROADCAST]
            return self._within(int(trees_from(demand.holders, distances, branching, joined).length(demand.holders[0])))
        least = self._least(PhaseOp.REDUCE if collective.only_reduces else PhaseOp.BROADCAST, members)
        parts = zip(members, demand.parts(self._topology), strict=True)
        return sum((part * self._within(int(least.length(node))) for node, part in parts if part), Fraction(0))

    def _least(self, op: PhaseOp, members: tuple[int, ...]) -> LeastTrees | LeastArborescences:
        if (op, members) not in self._found:
            self._found[op, members] = least_trees(self._distances[op], self._branching[op], members)
        return self._found[op, members]

    def _within(self, length: int) -> Fraction:
        if length >= self._far:
            raise ProofError("there is no tree")
        return Fraction(length)


def least_trees(
    distances: Lengths, branching: Sequence[int], members: Sequence[int]
) -> LeastTrees | LeastArborescences:
    """Return the shortest trees that join the members or, if these are many, least arborescences."""
    return (LeastTrees if len(members) <= MOST_MEMBERS else LeastArborescences)(distances, branching, members)


def trees_from(
    holders: Sequence[int], distances: Lengths, branching: Sequence[int], targets: Sequence[int]
) -> LeastTrees | LeastArborescences:
    """Return the shortest trees that join targets with any of the holders, which are merged with the first of them."""
    first, *others = holders
    able = [node for node in branching if node not in others]
    return least_trees(merged(distances, holders), able, [first, *(node for node in targets if node not in holders)])


def branching_nodes(topology: Topology, op: PhaseOp) -> list[int]:
    """Return the nodes at which trees of a phase may branch: compute nodes, and switches that copy or add up data."""
    outward = op is PhaseOp.BROADCAST
    return [
        number
        for number, node in enumerate(topology.nodes)
        if node.is_compute or (node.multicast if outward else node.aggregation)
    ]
