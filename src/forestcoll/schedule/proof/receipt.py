"""The bound from the data that all nodes must receive: Corollary 2.1 of *On the Computation Rate of All-Reduce*.

In an allreduce along trees, every compute node except the root sends all data once in the reduce, and receives it once
in the broadcast. If no switch copies or adds up and no compute node is idle, each of these 2(N - 1) sends leaves one
compute node and enters another. So the links into compute nodes carry 2(N - 1) M, and so do the links out of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.part import usable_part


@dataclass(frozen=True, repr=False)
class ReceiptProof(Proof):
    """The links into (or out of) compute nodes carry the data of an allreduce 2(N - 1) times. It contains no numbers.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import ReceiptProof
        >>> str(ReceiptProof().algbw(load_topology("ring:nodes=4"), NodeDemand(Collective.ALLREDUCE)))
        '4/3'
    """

    kind: ClassVar[str] = "receipt"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        return (
            "In each tree of an allreduce, every compute node but the root sends its sum once and receives the result "
            "once. So the links into compute nodes, and those out of them, carry all data 2(N - 1) times."
        )

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if demand.collective is not Collective.ALLREDUCE:
            raise ProofError(f"a receipt bounds an allreduce only, and this is {demand.collective.with_article}")
        if len(demand.members(topology)) < len(topology.compute):
            raise ProofError("a compute node is idle and could copy or add up data")
        if topology.able_switches:
            raise ProofError("a switch can copy or add up data")
        return self.bandwidth(topology) / self.times(topology)

    def bandwidth(self, topology: Topology) -> Fraction:
        """Return the total bandwidth of `links`."""
        return sum((link.bandwidth for link in self.links(topology)), Fraction(0))

    def links(self, topology: Topology) -> tuple[Link, ...]:
        """Return all links into compute nodes, or all links out of them if their total bandwidth is less.

        Links into or out of a dead end carry no data, and are left out.
        """
        network, entering = usable_part(topology, topology.compute), self.counts_entering(topology)
        ends = ((link, link.target if entering else link.source) for link in network.links)
        return tuple(link for link, node in ends if network.nodes[node].is_compute)

    def counts_entering(self, topology: Topology) -> bool:
        """Return whether the links into compute nodes have at most the total bandwidth of the links out of them."""
        network = usable_part(topology, topology.compute)
        into = sum((network.ingress[node] for node in network.compute), Fraction(0))
        return into <= sum((network.egress[node] for node in network.compute), Fraction(0))

    def times(self, topology: Topology) -> int:
        """Return how many times `links` carry all data."""
        return 2 * (len(topology.compute) - 1)

    def document(self, name: NodeName) -> dict[str, object]:  # noqa: ARG002 (no nodes)
        return {}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:  # noqa: ARG003
        return cls()
