"""Lengths of links, which prove a bound of an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, A.5).

Let every node s send d(s, t) M to every node t in the time M / algbw. Any lengths l(e) >= 0 of the links prove

    algbw <= (sum over links of b(e) l(e)) / (sum over pairs of d(s, t) times the distance from s to t),

because the flow from s to t uses at least d(s, t) algbw times their distance. In an all-to-all, d(s, t) is 1/N for all
pairs of N compute nodes. A gather and a scatter are bounded in the same way.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from forestcoll.collective import Collective
from forestcoll.proof import reading
from forestcoll.proof.distances import Distances, distances
from forestcoll.proof.proof import NodeName, Proof, ProofError
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class LengthsProof(Proof):
    """Lengths of links that bound an all-to-all, a gather or a scatter.

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

    ends: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]

    kind: ClassVar[str] = "lengths"

    @staticmethod
    def of(topology: Topology, lengths: tuple[int, ...]) -> "LengthsProof":
        """Return the proof from one length for each link of `topology`, in the order of `topology.links`."""
        listed = [(link, length) for link, length in zip(topology.links, lengths, strict=True) if length]
        return LengthsProof(
            tuple((link.source, link.target) for link, _ in listed), tuple(length for _, length in listed)
        )

    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """See `Proof.algbw`."""
        if not demand.collective.is_personalised:
            raise ProofError(
                f"lengths bound an {Collective.ALL_TO_ALL}, a {Collective.GATHER} or a {Collective.SCATTER} only, and "
                f"this is {demand.collective.with_article}"
            )
        if min(self.lengths, default=1) < 0:
            raise ProofError("a length is negative")
        length_of = dict(zip(self.ends, self.lengths, strict=True))
        places = {(link.source, link.target): place for place, link in enumerate(topology.links)}
        if not places.keys() >= length_of.keys():
            raise ProofError("a length is given for a link that does not exist")
        bandwidths = ((topology.links[places[ends]].bandwidth, length) for ends, length in length_of.items())
        used = sum((bandwidth * length for bandwidth, length in bandwidths), Fraction(0))
        lengths = [length_of.get((link.source, link.target), 0) for link in topology.links]
        apart = distance_sum(topology, demand, lengths)
        if not apart:
            raise ProofError("all distances are 0")
        return used / apart

    def document(self, name: NodeName) -> dict[str, object]:
        """See `Proof.document`."""
        lengths = [
            {"source": name(source), "target": name(target), "length": length}
            for (source, target), length in zip(self.ends, self.lengths, strict=True)
        ]
        return {"lengths": lengths}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        """See `Proof.from_document`."""
        listed = reading.objects(document, "lengths", where)
        places = [f"{where}.lengths[{place}]" for place in range(len(listed))]
        ends = tuple(
            (reading.node(each, "source", topology, place), reading.node(each, "target", topology, place))
            for each, place in zip(listed, places, strict=True)
        )
        return cls(ends, tuple(reading.integer(e, "length", place) for e, place in zip(listed, places, strict=True)))


def distance_sum(
    topology: Topology, demand: Demand, lengths: Sequence[int], sources: Collection[int] | None = None
) -> Fraction:
    """Return the sum over all pairs of nodes of what they exchange times their distance, for one length of each link.

    Args:
        topology: the network.
        demand: an all-to-all, a gather or a scatter.
        lengths: the length of each link, in the order of the links.
        sources: the numbers of the sources whose pairs count; all if None.

    Raises:
        ProofError: a node sends data to a node that it does not reach.
    """
    pairs = zip(demand.members(topology), demand.sent(topology), strict=True)
    sent = {node: targets for node, targets in pairs if targets and (sources is None or node in sources)}
    total, rest = Fraction(0), iter(sent.values())
    for block in distances(topology, lengths, list(sent)):
        for far, targets in zip(block, rest, strict=False):
            total += _weighted(far, targets)
    return total


def _weighted(far: Distances, targets: Mapping[int, Fraction]) -> Fraction:
    by_part: dict[Fraction, list[int]] = {}
    for node, part in targets.items():
        by_part.setdefault(part, []).append(node)
    total = Fraction(0)
    for part, nodes in by_part.items():
        listed = far[nodes]
        if (listed < 0).any():
            raise ProofError("a node does not reach a node to which it sends data")
        total += part * int(listed.sum())
    return total
