"""Lengths of links, which prove a bound of an allreduce along trees.

Each tree of an allreduce reduces towards its root and broadcasts from it. Let t be the least total length of an in-tree
and an out-tree of the same root that join all members, where trees may branch at members, idle nodes and switches that
add up (in-tree) or copy (out-tree). Trees of rate r need at least r t, and the links have the sum of bandwidth times
length, so r <= sum / t.

`topology.least_trees` finds the least trees. The time triples with each member, so there is a limit.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.lengths.link_lengths import LinkLengths, total_length
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.schedule.proof.tree_dual import PHASES, Roles
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Lengths, Metric
from forestcoll.topology.graph.part import usable_part

MOST_MEMBERS = 12
"""The most compute nodes that take part, for which least trees are found."""


@dataclass(frozen=True, repr=False)
class TreeLengthsProof(LinkLengths):
    """Lengths of links that bound an allreduce along trees.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import TreeLengthsProof
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = TreeLengthsProof.of(ring, (1,) * len(ring.links))
        >>> str(proof.algbw(ring, NodeDemand(Collective.ALLREDUCE)))
        '3/2'
    """

    kind: ClassVar[str] = "tree-lengths"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        return self._words("the trees of an allreduce have a least length", "this length")

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"lengths of trees bound an allreduce only, and this is {demand.collective.with_article}")
        members = demand.members(topology)
        if len(members) > MOST_MEMBERS:
            raise ProofError(f"{len(members)} nodes take part, and least trees are found for {MOST_MEMBERS} at most")
        network = usable_part(topology, members)
        roles = Roles.in_network(network)
        length_of = self.length_of(topology)
        far = 2 * len(network.nodes) * sum(length_of.values()) + 1  # a tree has fewer arcs than there are nodes
        listed = [length_of.get((link.source, link.target), 0) for link in network.links]
        lengths = np.array(listed, dtype=np.int64 if far < _LARGEST else object)
        both = [_least_trees(network, lengths, far, roles, phase) for phase in PHASES]
        shortest = min(sum(int(least.length(root)) for least in both) for root in sorted(roles.roots))
        if not 0 < shortest < far:
            raise ProofError("a tree has length 0, or there is no tree")
        return total_length(network, length_of) / shortest


_LARGEST = 2**56
"""The greatest distance that is computed in 64-bit integers: a tree has fewer than 2 * `MOST_MEMBERS` walks."""


def _least_trees(topology: Topology, lengths: Lengths, far: int, roles: Roles, phase: PhaseOp) -> LeastTrees:
    metric = Metric(topology, lengths, far, backwards=phase is PhaseOp.REDUCE)
    branching = [node for node in range(len(topology.nodes)) if node not in roles.passive[phase]]
    return LeastTrees(metric.distances, branching, topology.compute)
