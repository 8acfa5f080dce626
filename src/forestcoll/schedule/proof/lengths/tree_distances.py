"""Lengths of links and weights of sets, which prove a bound of an allreduce along trees by addition.

The proof is for full duplex networks whose nodes copy if and only if they add up (`tree_dual.roots_are_free`). There,
an allreduce along trees of rate r is a packing of undirected trees of total weight r, each with its root at any member.
Opposite links have the same length, and a pair of them has one bandwidth. A tree consists of walks between nodes that
may branch: members, idle nodes and able switches. Each set with a weight contains the same member, and misses another.
Let each tree have its root at that member. Then it leaves each set. If for any two nodes a, c that may branch

    weight of the sets that contain a and miss c  <=  distance from a to c,

each tree is at least as long as the sum W of all weights, so r W <= sum over pairs of links of bandwidth * length.

Without sets, the least trees must be found, as in `tree_lengths`, which is possible for few members only. The bound can
be less than that of `tree_dual` where switches that only forward data are next to relays: here distances lead through
these switches, and there each set has them on one side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from forestcoll.base.errors import plural
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.lengths.link_lengths import LinkLengths, total_length
from forestcoll.schedule.proof.proof import NodeName, ProofError
from forestcoll.schedule.proof.tree_dual import Roles, roots_are_free
from forestcoll.topology import Topology
from forestcoll.topology.graph.metric import Metric
from forestcoll.topology.graph.part import usable_part


@dataclass(frozen=True, repr=False)
class TreeDistancesProof(LinkLengths):
    """Lengths of links and weights of sets that bound an allreduce along trees.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.
        cuts: the sets, as node numbers in rising order, each with its weight. Sets without a weight are left out.

    Example:
        >>> from fractions import Fraction
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import TreeDistancesProof
        >>> ring = load_topology("ring:nodes=3")
        >>> cuts = (((0,), Fraction(1)),)
        >>> proof = TreeDistancesProof(((0, 1), (1, 0), (0, 2), (2, 0)), (1, 1, 1, 1), cuts)
        >>> str(proof.algbw(ring, NodeDemand(Collective.ALLREDUCE)))
        '2'
    """

    cuts: tuple[tuple[tuple[int, ...], Fraction], ...] = ()

    kind: ClassVar[str] = "tree-distances"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        sets = plural(len(self.cuts), "set")
        return self._words(f"every tree of an allreduce is as long as the weights of {sets} of nodes", "these weights")

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"distances bound an allreduce only, and this is {demand.collective.with_article}")
        members = demand.members(topology)
        network = usable_part(topology, members)
        roles = Roles.in_network(network)
        if not roots_are_free(network, roles):
            raise ProofError("a link has no opposite link of its bandwidth, or a switch only copies or only adds up")
        length_of = self.length_of(topology)
        if any(length_of.get((target, source)) != length for (source, target), length in length_of.items()):
            raise ProofError("opposite links have different lengths")
        self._check_sets(members)
        branching = [node for node in range(len(network.nodes)) if node not in roles.passive[PhaseOp.BROADCAST]]
        self._check_distances(network, length_of, branching)
        whole = sum((weight for _, weight in self.cuts), Fraction(0))
        return total_length(network, length_of) / 2 / whole

    def _check_sets(self, members: tuple[int, ...]) -> None:
        if not self.cuts or min(weight for _, weight in self.cuts) <= 0:
            raise ProofError("there is no set, or a weight is 0 or less")
        if not set(members).intersection(*(inside for inside, _ in self.cuts)):
            raise ProofError("no node that takes part is in all sets")
        if any(set(members) <= set(inside) for inside, _ in self.cuts):
            raise ProofError("a set contains all nodes that take part")

    def _check_distances(self, network: Topology, length_of: Mapping[tuple[int, int], int], nodes: list[int]) -> None:
        """Check that the sets between two nodes do not weigh more than their distance."""
        lengths = [length_of.get((link.source, link.target), 0) for link in network.links]
        far = sum(lengths) + 1
        distances = Metric(network, np.array(lengths, dtype=object), far).distances
        held = {node: [node in inside for inside, _ in self.cuts] for node in nodes}
        for source in nodes:
            for target in nodes:
                pairs = zip(held[source], held[target], self.cuts, strict=True)
                between = sum((weight for here, there, (_, weight) in pairs if here and not there), Fraction(0))
                if between > distances[source, target] and distances[source, target] < far:
                    raise ProofError(f"the sets between node {source} and node {target} weigh more than their distance")

    def document(self, name: NodeName) -> dict[str, object]:
        cuts = [{"cut": [name(node) for node in inside], "weight": str(weight)} for inside, weight in self.cuts]
        return {**super().document(name), "cuts": cuts}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        found = super().from_document(document, topology, where)
        cuts = tuple(
            (
                reading.nodes(each, "cut", topology, f"{where}.cuts[{place}]"),
                reading.rational(each, "weight", f"{where}.cuts[{place}]"),
            )
            for place, each in enumerate(reading.objects(document, "cuts", where))
        )
        return cls(found.ends, found.lengths, cuts)
