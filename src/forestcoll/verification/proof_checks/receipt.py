"""The data that all nodes must receive in an allreduce (Corollary 2.1 of *On the Computation Rate of All-Reduce*).

Data that moves along trees is sent N - 1 times in the reduce and N - 1 times in the broadcast. If all compute nodes
take part and no switch copies or adds up, each of these sends leaves one compute node and enters another.
"""

from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import ReceiptProof
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError


def receipt_bound(proof: ReceiptProof, question: BoundQuestion) -> Fraction:  # noqa: ARG001 (a receipt holds no numbers)
    """Return the algbw of an allreduce along trees that the links of compute nodes allow."""
    network = question.network
    if question.collective is not Collective.ALLREDUCE:
        raise UnprovenError(f"a receipt bounds an allreduce only, and this is {question.collective.with_article}")
    if len(question.members) < int(network.is_compute.sum()):
        raise UnprovenError("a compute node is idle and could copy or add up data")
    if bool((network.can_multicast | network.can_aggregate).any()):
        raise UnprovenError("a switch can copy or add up data")
    ends = (network.targets, network.sources)
    least = min(network.total_bandwidth(network.is_compute[end] & question.usable) for end in ends)
    return least / (2 * (len(question.members) - 1))
