"""The bottleneck cut of a picture: the nodes on one side, and the links that cross it in words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from forestcoll.schedule.proof import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.topology import Topology


@dataclass(frozen=True)
class DrawnCut:
    """A set of nodes, and the links that leave it.

    Attributes:
        topology: the network.
        inside: the numbers of the nodes.
    """

    topology: Topology
    inside: frozenset[int]

    @staticmethod
    def of(topology: Topology, bound: Bound | None) -> "DrawnCut | None":
        """Return the cut of a bound; None if there is no bound, or if its proof is not one cut."""
        if bound is None or not isinstance(bound.proof, CutProof):
            return None
        return DrawnCut(topology, frozenset(bound.proof.inside))

    @cached_property
    def leaving(self) -> frozenset[int]:
        """The numbers of the links that leave the set."""
        links = enumerate(self.topology.links)
        return frozenset(
            number for number, link in links if link.source in self.inside and link.target not in self.inside
        )

    @cached_property
    def shaded(self) -> frozenset[int]:
        """The nodes that a picture shades: those inside the cut or, if they are fewer, those outside."""
        return self.inside if self._is_small else frozenset(range(len(self.topology.nodes))) - self.inside

    @property
    def _is_small(self) -> bool:
        return 2 * len(self.inside) <= len(self.topology.nodes)

    @property
    def name(self) -> str:
        """What the shaded nodes are."""
        return "one side of the bottleneck cut"

    @property
    def words(self) -> str:
        """The links of the cut in words, such as `links into this side: 8 x 25 GB/s = 200 GB/s`."""
        direction = "out of" if self._is_small else "into"
        return f"links {direction} this side: {bandwidths(self.topology, sorted(self.leaving))}"


def bandwidths(topology: Topology, links: Sequence[int]) -> str:
    """Return the bandwidths of links with their numbers and their sum.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> bandwidths(build_topology("dgx-a100:boxes=2"), range(3))
        '2 x 300 GB/s + 25 GB/s = 625 GB/s'
    """
    counts = Counter(topology.links[number].bandwidth for number in links)
    unit = topology.bandwidth_unit
    listed = [f"{f'{count:,} x ' * (count > 1)}{value} {unit}" for value, count in sorted(counts.items(), reverse=True)]
    if len(links) < 2:
        return " + ".join(listed)
    total = sum(topology.links[number].bandwidth for number in links)
    return f"{' + '.join(listed)} = {total} {unit}"
