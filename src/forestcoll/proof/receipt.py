"""What all nodes must receive: Corollary 2.1 of *On the Computation Rate of All-Reduce*.

In an allreduce along trees every compute node but the root sends once in the reduce and receives once in the broadcast
of everything. Where no switch copies or adds up and no compute node is idle, each of these 2(N - 1) sends leaves a
compute node and enters another. So the links into compute nodes carry 2(N - 1) M, and so do those out of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.collective import Collective
from forestcoll.proof.proof import NodeName, Proof, ProofError
from forestcoll.request import Demand
from forestcoll.topology import Link, Topology
from forestcoll.topology.part import usable_part


@dataclass(frozen=True)
class ReceiptProof(Proof):
    """The links of all compute nodes carry the data of an allreduce 2(N - 1) times. It holds no numbers."""

    kind: ClassVar[str] = "receipt"
    trees_only: ClassVar[bool] = True

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """As `Proof.algbw`."""
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"it bounds an allreduce only, and this is {demand.collective.with_article}")
        if len(demand.members(topology)) < len(topology.compute):
            raise ProofError("a compute node is idle, and could relay copies and sums")
        if topology.able_switches:
            raise ProofError("a switch copies or adds up")
        return self.bandwidth(topology) / self.times(topology)

    def bandwidth(self, topology: Topology) -> Fraction:
        """Return the bandwidth of `links` together."""
        return sum((link.bandwidth for link in self.links(topology)), Fraction(0))

    def links(self, topology: Topology) -> tuple[Link, ...]:
        """Return all links into compute nodes, or all links out of them if these have less bandwidth together.

        Links that lead into a dead end or come out of one carry no data, and are not among them.
        """
        network, entering = usable_part(topology, topology.compute), self.counts_entering(topology)
        ends = ((link, link.target if entering else link.source) for link in network.links)
        return tuple(link for link, node in ends if network.nodes[node].is_compute)

    def counts_entering(self, topology: Topology) -> bool:
        """Return whether the links into compute nodes have no more bandwidth than those out of them."""
        network = usable_part(topology, topology.compute)
        into = sum((network.ingress[node] for node in network.compute), Fraction(0))
        return into <= sum((network.egress[node] for node in network.compute), Fraction(0))

    def times(self, topology: Topology) -> int:
        """Return how often these links carry the data."""
        return 2 * (len(topology.compute) - 1)

    def document(self, name: NodeName) -> dict[str, object]:  # noqa: ARG002 (no nodes)
        """As `Proof.document`."""
        return {}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:  # noqa: ARG003
        """As `Proof.from_document`."""
        return cls()
