"""Lengths of links: what bounds an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, appendix A.5).

Any lengths l(e) >= 0 of the links prove that no more than f flows between every two compute nodes at once:

    f <= (sum over links of b(e) l(e)) / (sum over ordered pairs of compute nodes of the distance between them),

as f between two nodes uses up at least f times their distance. A node's whole buffer is N blocks, so algbw is N f.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.collective import Collective
from forestcoll.proof import reading
from forestcoll.proof.proof import NodeName, Proof, ProofError
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class LengthsProof(Proof):
    """Lengths of links.

    Attributes:
        ends: of each link that has a length its source and target.
        lengths: their lengths, above 0; all other links have none.
    """

    ends: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]

    kind: ClassVar[str] = "lengths"

    @staticmethod
    def of(topology: Topology, lengths: tuple[int, ...]) -> "LengthsProof":
        """Return the proof by the length of each link of `topology`, in their order."""
        listed = [(link, length) for link, length in zip(topology.links, lengths, strict=True) if length]
        return LengthsProof(
            tuple((link.source, link.target) for link, _ in listed), tuple(length for _, length in listed)
        )

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """As `Proof.algbw`."""
        if demand.collective is not Collective.ALL_TO_ALL:
            raise ProofError(f"lengths bound an all-to-all only, and this is {demand.collective.with_article}")
        if min(self.lengths, default=1) < 0:
            raise ProofError("a length is negative")
        bandwidths = {(link.source, link.target): link.bandwidth for link in topology.links}
        length_of = dict(zip(self.ends, self.lengths, strict=True))
        if not bandwidths.keys() >= length_of.keys():
            raise ProofError("a length is given for a link that is not there")
        used = sum((bandwidths[ends] * length for ends, length in length_of.items()), Fraction(0))
        members = demand.members(topology)
        apart = sum(_distances(topology, length_of, source, members) for source in members)
        if not apart:
            raise ProofError("all distances are 0")
        return len(members) * used / apart

    def document(self, name: NodeName) -> dict[str, object]:
        """As `Proof.document`."""
        lengths = [
            {"source": name(source), "target": name(target), "length": length}
            for (source, target), length in zip(self.ends, self.lengths, strict=True)
        ]
        return {"lengths": lengths}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        """As `Proof.from_document`."""
        listed = reading.objects(document, "lengths", where)
        places = [f"{where}.lengths[{place}]" for place in range(len(listed))]
        ends = tuple(
            (reading.node(each, "source", topology, place), reading.node(each, "target", topology, place))
            for each, place in zip(listed, places, strict=True)
        )
        return cls(ends, tuple(reading.integer(e, "length", place) for e, place in zip(listed, places, strict=True)))


def _distances(
    topology: Topology, length_of: Mapping[tuple[int, int], int], source: int, members: tuple[int, ...]
) -> int:
    """Return the distances from `source` to all `members`, added up (Dijkstra)."""
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
    return sum(distance[node] for node in members)
