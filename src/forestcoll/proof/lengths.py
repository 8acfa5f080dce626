"""Lengths of links, which prove a bound of an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, A.5).

Let f be the rate between every two compute nodes at the same time. Any lengths l(e) >= 0 of the links prove

    f <= (sum over links of b(e) l(e)) / (sum over ordered pairs of compute nodes of the distance between them),

because the flow between two nodes uses at least f times their distance. The buffer of a node has N blocks, so algbw is
N f.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from forestcoll.collective import Collective
from forestcoll.proof.link_lengths import LinkLengths, total_length
from forestcoll.proof.proof import ProofError
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class LengthsProof(LinkLengths):
    """Lengths of links that bound an all-to-all.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.

    Example:
        >>> from forestcoll import Collective, Demand, LengthsProof, load_topology
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = LengthsProof.of(ring, (1,) * len(ring.links))
        >>> str(proof.algbw(ring, Demand(Collective.ALL_TO_ALL)))
        '3'
    """

    kind: ClassVar[str] = "lengths"

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """See `Proof.algbw`."""
        if demand.collective is not Collective.ALL_TO_ALL:
            raise ProofError(f"lengths bound an all-to-all only, and this is {demand.collective.with_article}")
        length_of = self.length_of(topology)
        used = total_length(topology, length_of)
        members = demand.members(topology)
        apart = sum(_distances(topology, length_of, source, members) for source in members)
        if not apart:
            raise ProofError("all distances are 0")
        return len(members) * used / apart


def _distances(
    topology: Topology, length_of: Mapping[tuple[int, int], int], source: int, members: tuple[int, ...]
) -> int:
    """Return the sum of the distances from `source` to all `members` (Dijkstra)."""
    arcs: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
    for link in topology.links:
        arcs[link.source].append((link.target, length_of.get((link.source, link.target), 0)))
    distance = {source: 0}
    heap = [(0, source)]
    while heap:
        far, node = heapq.heappop(heap)
        if far > distance[node]:
            continue
        for target, length in arcs[node]:
            if far + length < distance.get(target, far + length + 1):
                distance[target] = far + length
                heapq.heappush(heap, (far + length, target))
    if not distance.keys() >= set(members):
        raise ProofError("a compute node does not reach another")
    return sum(distance[node] for node in members)
