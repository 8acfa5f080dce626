"""The Kautz graph K(degree, length): made from the complete graph of degree + 1 nodes by repeated line graphs.

It has degree^length * (degree + 1) nodes, no loops, and the least diameter that a one-way graph of its size and degree
can have. It is built by the rule of the generalized Kautz graph, which gives the same graph for these sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.families.generalized_kautz import GeneralizedKautz
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "kautz",
    summary="Kautz graph: degree^length * (degree + 1) nodes, one-way links, least diameter",
    source="unit bandwidth; W. H. Kautz, Bounds on directed (d, k) graphs (1968)",
)
@dataclass(frozen=True)
class Kautz(ArcRecipe):
    """A Kautz graph; its diameter is length + 1."""

    degree: int = integer(2, "arcs that leave a node", minimum=2, is_size=True)
    length: int = integer(2, "line graphs taken", maximum=MAX_DIMENSIONS, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def order(self) -> int:
        nodes: int = self.degree**self.length * (self.degree + 1)
        return nodes

    def degree_of_arcs(self) -> int:
        return self.degree

    def arcs(self) -> Iterator[tuple[int, int]]:
        return GeneralizedKautz(self.degree, self.order()).arcs()
