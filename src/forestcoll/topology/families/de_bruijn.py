"""The de Bruijn graph DBJ(degree, length): words of `length` digits, each joined to the words that it shifts into.

Word x of digits 0..degree-1, read as a number, has arcs to degree*x + a modulo degree^length for every digit a. Words
of one repeated digit have a loop, a port without use, so `modified-de-bruijn` rewires them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.registry import topology_builder


def shifts(degree: int, nodes: int) -> Iterator[tuple[int, int]]:
    """Yield the arcs from x to degree*x + a modulo `nodes`, for each digit a."""
    for node in range(nodes):
        for digit in range(degree):
            yield node, (degree * node + digit) % nodes


@topology_builder(
    "de-bruijn",
    summary="de Bruijn graph: degree^length nodes, one way, the fewest hops but for a loop at `degree` nodes",
    source="a unit by definition; N. G. de Bruijn, A combinatorial problem (1946)",
)
@dataclass(frozen=True)
class DeBruijn(ArcRecipe):
    """The word is the node's number in base `degree`; loops are left out."""

    degree: int = field(default=2, metadata=integer("digits, and arcs that leave a node", minimum=2, is_size=True))
    length: int = field(default=3, metadata=integer("digits of a word", maximum=MAX_DIMENSIONS, is_size=True))
    bandwidth: Fraction = field(default=Fraction(1), metadata=link_bandwidth("of each link"))

    def order(self) -> int:
        """As `ArcRecipe.order`."""
        nodes: int = self.degree**self.length
        return nodes

    def degree_of_arcs(self) -> int:
        """As `ArcRecipe.degree_of_arcs`."""
        return self.degree

    def loops(self) -> int:
        """As `ArcRecipe.loops`: one at each word of a repeated digit."""
        return self.degree

    def arcs(self) -> Iterator[tuple[int, int]]:
        """As `ArcRecipe.arcs`."""
        return shifts(self.degree, self.order())
