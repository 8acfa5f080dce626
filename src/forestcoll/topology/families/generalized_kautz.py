"""The generalized Kautz graph of Imase and Itoh (1983): a low-diameter one-way graph of any size and degree.

Node x has arcs to -degree*x - a modulo nodes for a = 1..degree. Its diameter is at most one above the least possible
one for its size and degree (Theorem 21 of the direct-connect paper). With degree^length * (degree + 1) nodes it is the
Kautz graph. Unless nodes is a multiple of degree + 1, a few nodes have a loop, which is an unused port.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "generalized-kautz",
    summary="generalized Kautz graph: one-way links, any size, diameter at most one above the least",
    source="unit bandwidth; M. Imase, M. Itoh, A design for directed graphs with minimum diameter (1983)",
)
@dataclass(frozen=True)
class GeneralizedKautz(ArcRecipe):
    """A generalized Kautz graph. Loops are left out; the bandwidths of parallel arcs, in small graphs, add up."""

    degree: int = integer(4, "arcs that leave a node", is_size=True)
    nodes: int = integer(16, "compute nodes", minimum=2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def problem(self) -> str | None:
        if self.nodes <= self.degree:
            return f"nodes is {self.nodes}; with degree {self.degree} it must be at least {self.degree + 1}"
        return None

    def order(self) -> int:
        return self.nodes

    def degree_of_arcs(self) -> int:
        return self.degree

    def loops(self) -> int:
        """As `ArcRecipe.loops`: the number of solutions of (degree + 1) * x = -a modulo nodes."""
        common = gcd(self.degree + 1, self.nodes)
        return common * (self.degree // common)

    def arcs(self) -> Iterator[tuple[int, int]]:
        for node in range(self.nodes):
            for step in range(1, self.degree + 1):
                yield node, (-self.degree * node - step) % self.nodes
