"""Lengths of links: the numbers of the proofs that bound flows and trees by the total length that they need."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from forestcoll.base.errors import plural
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Topology


@dataclass(frozen=True, repr=False)
class LinkLengths(Proof, ABC):
    """Lengths of links. All data together needs at most the sum of bandwidth times length per unit of time.

    Attributes:
        ends: the source and the target of each link with a length above 0.
        lengths: the lengths of these links, in the same order; all other links have length 0.
    """

    ends: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, topology: Topology, lengths: tuple[int, ...]) -> Self:
        """Return the proof from one length for each link of `topology`, in the order of `topology.links`."""
        listed = [(link, length) for link, length in zip(topology.links, lengths, strict=True) if length]
        return cls(tuple((link.source, link.target) for link, _ in listed), tuple(length for _, length in listed))

    def _words(self, claim: str, divisor: str) -> str:
        limit = f"algbw is at most the sum of bandwidth times length divided by {divisor}"
        return f"At the lengths of {plural(len(self.lengths), 'link')}, {claim}. So {limit}."

    def length_of(self, topology: Topology) -> Mapping[tuple[int, int], int]:
        """Return the lengths by the ends of links.

        Raises:
            ProofError: a length is negative, or belongs to no link of `topology`.
        """
        if min(self.lengths, default=1) < 0:
            raise ProofError("a length is negative")
        length_of = dict(zip(self.ends, self.lengths, strict=True))
        if not topology.link_numbers.keys() >= length_of.keys():
            raise ProofError("a length is given for a link that does not exist")
        return length_of

    def document(self, name: NodeName) -> dict[str, object]:
        lengths = [
            {"source": name(source), "target": name(target), "length": length}
            for (source, target), length in zip(self.ends, self.lengths, strict=True)
        ]
        return {"lengths": lengths}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        listed = reading.objects(document, "lengths", where)
        places = [f"{where}.lengths[{place}]" for place in range(len(listed))]
        ends = tuple(
            (reading.node(each, "source", topology, place), reading.node(each, "target", topology, place))
            for each, place in zip(listed, places, strict=True)
        )
        return cls(ends, tuple(reading.integer(e, "length", place) for e, place in zip(listed, places, strict=True)))


def total_length(topology: Topology, length_of: Mapping[tuple[int, int], int]) -> Fraction:
    """Return the sum of bandwidth times length over the links of `topology`."""
    lengths = (link.bandwidth * length_of.get((link.source, link.target), 0) for link in topology.links)
    return sum(lengths, Fraction(0))
