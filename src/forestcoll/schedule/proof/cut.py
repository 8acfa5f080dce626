"""A cut: a set of nodes that a part of the data must leave, over links whose total bandwidth is its exit bandwidth.

Let a member of the collective be inside the set, and another outside. In an allgather or a broadcast, the shards inside
must leave the set, because a node outside needs them. In a reduce-scatter or a reduce, the data of nodes inside for the
shards outside must leave it. In an allreduce, an amount equal to all data must leave it. In a
gather, a scatter or an all-to-all, what nodes inside send to nodes outside must leave it. So no schedule, with or
without switches that copy or add up, is faster than exit bandwidth / that part (ForestColl §4; *On the Computation Rate
of All-Reduce*, Theorem 1).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.base.errors import plural
from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Link, Topology


@dataclass(frozen=True, repr=False)
class CutProof(Proof):
    """A set of nodes whose exit bandwidth bounds a collective.

    Attributes:
        inside: the numbers of the nodes of the set, in rising order.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import CutProof
        >>> ring = load_topology("ring:nodes=4")
        >>> str(CutProof((0, 1, 2)).algbw(ring, NodeDemand()))
        '8/3'
    """

    inside: tuple[int, ...]

    kind: ClassVar[str] = "cut"

    def words(self) -> str:
        """See `Proof.words`."""
        nodes = plural(len(self.inside), "node")
        return (
            f"All data that must leave a set of {nodes} crosses the links out of it. So algbw is at most the bandwidth "
            "of these links divided by the part of the data that must leave."
        )

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if demand.collective is Collective.ALL_TO_ALL:
            raise ProofError("a cut does not bound an all-to-all; lengths of links do")
        members = demand.members(topology)
        if len(set(self.inside).intersection(members)) in {0, len(members)}:
            raise ProofError("no compute node that takes part is inside the cut, or none is outside")
        part = self.must_leave(topology, demand)
        if not part:
            raise ProofError("no part of the data must leave the cut")
        return self.exit_bandwidth(topology) / part

    def leaving(self, topology: Topology) -> tuple[Link, ...]:
        """Return the links that leave the set."""
        inside = set(self.inside)
        return tuple(link for link in topology.links if link.source in inside and link.target not in inside)

    def exit_bandwidth(self, topology: Topology) -> Fraction:
        """Return the sum of the bandwidths of the links that leave the set."""
        return exact_sum(link.bandwidth for link in self.leaving(topology))

    def must_leave(self, topology: Topology, demand: NodeDemand) -> Fraction:
        """Return the part of the data that must leave the set; 0 if all members are on one side."""
        inside = set(self.inside)
        members = demand.members(topology)
        kept = sum(node in inside for node in members)
        if kept in {0, len(members)}:
            return Fraction(0)
        if demand.collective is Collective.ALLREDUCE:
            return Fraction(1)
        if demand.collective.is_personalised:
            pairs = zip(members, demand.sent(topology), strict=True)
            sent = (sent for node, sent in pairs if node in inside)
            counts = Counter(part for each in sent for target, part in each.items() if target not in inside)
            return sum((part * count for part, count in counts.items()), Fraction(0))
        parts = zip(members, demand.parts(topology), strict=True)
        return exact_sum(part for node, part in parts if (node in inside) != demand.collective.only_reduces)

    def document(self, name: NodeName) -> dict[str, object]:
        return {"cut": [name(node) for node in self.inside]}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        return cls(reading.nodes(document, "cut", topology, where))
