"""A cut: a set of nodes that some part of the data must leave, over links that add up to its exit bandwidth.

With a member of the collective inside and one outside, of the data M must leave the set: in an allgather or a broadcast
the shards inside, for a node outside needs them; in a reduce-scatter or a reduce the shards outside, for a node inside
adds to them; in an allreduce all of it. So no schedule, with or without switches that copy or add up, is faster than
exit bandwidth / that part (ForestColl §4; *On the Computation Rate of All-Reduce*, Theorem 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.collective import Collective
from forestcoll.proof import reading
from forestcoll.proof.proof import NodeName, Proof, ProofError
from forestcoll.request import Demand
from forestcoll.topology import Link, Topology


@dataclass(frozen=True)
class CutProof(Proof):
    """A set of nodes with its exit bandwidth.

    Attributes:
        inside: node numbers, rising.
    """

    inside: tuple[int, ...]

    kind: ClassVar[str] = "cut"

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """As `Proof.algbw`."""
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
        return sum((link.bandwidth for link in self.leaving(topology)), Fraction(0))

    def must_leave(self, topology: Topology, demand: Demand) -> Fraction:
        """Return the part of the data that must leave the set, 0 if the members are not on both sides."""
        inside = set(self.inside)
        members = demand.members(topology)
        kept = sum(node in inside for node in members)
        if kept in {0, len(members)}:
            return Fraction(0)
        if demand.collective is Collective.ALLREDUCE:
            return Fraction(1)
        parts = zip(members, demand.parts(topology), strict=True)
        leaves = (part for node, part in parts if (node in inside) != demand.collective.only_reduces)
        return sum(leaves, Fraction(0))

    def document(self, name: NodeName) -> dict[str, object]:
        """As `Proof.document`."""
        return {"cut": [name(node) for node in self.inside]}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        """As `Proof.from_document`."""
        return cls(reading.nodes(document, "cut", topology, where))
