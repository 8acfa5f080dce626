"""Lengths of links, which prove a bound of an all-to-all (Zhao et al., *Efficient Direct-Connect Topologies*, A.5).

Let every node s send d(s, t) M to every node t in the time M / algbw. Any lengths l(e) >= 0 of the links prove

    algbw <= (sum over links of b(e) l(e)) / (sum over pairs of d(s, t) times the distance from s to t),

because the flow from s to t uses at least d(s, t) algbw times their distance. In an all-to-all, d(s, t) is 1/N for all
pairs of N compute nodes. A gather and a scatter are bounded in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import ClassVar

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import EqualParts, NodeDemand
from forestcoll.schedule.proof.lengths.distances import Distances, distances
from forestcoll.schedule.proof.lengths.link_lengths import LinkLengths, total_length
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.topology import Topology


@dataclass(frozen=True, repr=False)
class LengthsProof(LinkLengths):
    """Lengths of links that bound an all-to-all, a gather or a scatter.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import LengthsProof
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = LengthsProof.of(ring, (1,) * len(ring.links))
        >>> str(proof.algbw(ring, NodeDemand(Collective.ALL_TO_ALL)))
        '3'
    """

    kind: ClassVar[str] = "lengths"

    def words(self) -> str:
        """See `Proof.words`."""
        return self._words("the data of each pair of nodes needs their distance", "the sum of data times distance")

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        if not demand.collective.is_personalised:
            raise ProofError(
                f"lengths bound an {Collective.ALL_TO_ALL}, a {Collective.GATHER} or a {Collective.SCATTER} only, and "
                f"this is {demand.collective.with_article}"
            )
        length_of = self.length_of(topology)
        used = total_length(topology, length_of)
        lengths = [length_of.get((link.source, link.target), 0) for link in topology.links]
        apart = distance_sum(topology, demand, lengths)
        if not apart:
            raise ProofError("all distances are 0")
        return used / apart


def distance_sum(
    topology: Topology, demand: NodeDemand, lengths: Sequence[int], times: Mapping[int, int] | None = None
) -> Fraction:
    """Return the sum over all pairs of nodes of what they exchange times their distance, for one length of each link.

    Args:
        topology: the network.
        demand: an all-to-all, a gather or a scatter.
        lengths: the length of each link, in the order of the links.
        times: by the number of a source, how often its pairs count, 0 if it is missing; if None, all count once.

    Raises:
        ProofError: a node sends data to a node that it does not reach.
    """
    pairs = zip(demand.members(topology), demand.sent(topology), strict=True)
    sent = {node: targets for node, targets in pairs if targets and (times is None or node in times)}
    total, rest = Fraction(0), iter(sent.items())
    for block in distances(topology, lengths, list(sent)):
        for far, (source, targets) in zip(block, rest, strict=False):
            total += _weighted(far, targets) * (1 if times is None else times[source])
    return total


def _weighted(far: Distances, targets: Mapping[int, Fraction]) -> Fraction:
    if isinstance(targets, EqualParts):
        return _at_distance(far, targets.part, list(targets))
    by_part: dict[Fraction, list[int]] = {}
    # the hash of a fraction takes long, and consecutive parts are often the same object
    for part, run in groupby(targets, key=targets.__getitem__):
        by_part.setdefault(part, []).extend(run)
    return sum((_at_distance(far, part, nodes) for part, nodes in by_part.items()), Fraction(0))


def _at_distance(far: Distances, part: Fraction, nodes: list[int]) -> Fraction:
    listed = far[nodes]
    if (listed < 0).any():
        raise ProofError("a node does not reach a node to which it sends data")
    return part * int(listed.sum())
