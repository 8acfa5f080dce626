"""The directed circulant graph of degree + 2 nodes: node i has links to i+1, i+2, ... i+degree.

Every node lacks only the link to its predecessor, so an allgather takes two steps and loads all links equally.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_COMPUTE, integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "directed-circulant",
    summary="directed circulant graph of degree + 2 nodes: each sends to all others except its predecessor",
    source="unit bandwidth",
)
@dataclass(frozen=True)
class DirectedCirculant(ArcRecipe):
    """The same network as a one-way `circulant` with the offsets 1 to `degree`."""

    degree: int = integer(4, "links that leave a node", maximum=MAX_COMPUTE - 2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def order(self) -> int:
        return self.degree + 2

    def degree_of_arcs(self) -> int:
        return self.degree

    def arcs(self) -> Iterator[tuple[int, int]]:
        for node in range(self.order()):
            for step in range(1, self.degree + 1):
                yield node, (node + step) % self.order()
