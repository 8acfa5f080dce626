"""A partition of the nodes, which bounds an allreduce along trees.

Let each part contain a member. The out-tree of a broadcast enters each part except the part of its root, over a
different link for each part. The in-tree of a reduce leaves each part except that of its root. So an allreduce of rate
r needs at least 2 (P - 1) r of the bandwidth between parts, where P is the number of parts. This is true for trees
with any roots, relays and switches.

On full duplex networks without switches and idle nodes, the least such bound is the optimum of trees: it is the
strength of the network (Tutte 1961, Nash-Williams 1961).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.base.errors import times
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.part import usable_part


@dataclass(frozen=True, repr=False)
class PartitionProof(Proof):
    """A partition of the nodes of a network, which bounds an allreduce along trees.

    Attributes:
        parts: the parts: numbers of nodes in rising order. Each node is in one part, and each part has a member.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import PartitionProof
        >>> ring = load_topology("ring:nodes=4")
        >>> str(PartitionProof(((0,), (1,), (2, 3))).algbw(ring, NodeDemand(Collective.ALLREDUCE)))
        '3/2'
    """

    parts: tuple[tuple[int, ...], ...]

    kind: ClassVar[str] = "partition"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        return (
            f"The nodes are divided into {len(self.parts)} parts. In each tree of an allreduce, data leaves every part "
            "but that of the root in the reduce, and enters it in the broadcast. So the links between the parts carry "
            f"all data {times(self.times)}."
        )

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"a partition bounds an allreduce only, and this is {demand.collective.with_article}")
        if sorted(node for part in self.parts for node in part) != list(range(len(topology.nodes))):
            raise ProofError("a node is in no part, or in two")
        members = demand.members(topology)
        if len(self.parts) < 2 or any(set(part).isdisjoint(members) for part in self.parts):
            raise ProofError("there are fewer than two parts, or a part has no node that takes part")
        between = self.between(usable_part(topology, members))
        return sum((link.bandwidth for link in between), Fraction(0)) / self.times

    @property
    def times(self) -> int:
        """How many times the links between parts carry all data."""
        return 2 * (len(self.parts) - 1)

    def between(self, topology: Topology) -> tuple[Link, ...]:
        """Return the links of `topology` between different parts."""
        part_of = {node: place for place, part in enumerate(self.parts) for node in part}
        return tuple(link for link in topology.links if part_of[link.source] != part_of[link.target])

    def document(self, name: NodeName) -> dict[str, object]:
        return {"parts": [[name(node) for node in part] for part in self.parts]}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        return cls(reading.lists_of_nodes(document, "parts", topology, where))
