"""The de Bruijn graph DBJ(degree, length): words of `length` digits, each joined to the words that it shifts into.

A word, read as a number x in base `degree`, has arcs to degree*x + a modulo degree^length for each digit a. A word
that repeats one digit has a loop, which is an unused port; `modified-de-bruijn` rewires the loops.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


def shifts(degree: int, nodes: int) -> Iterator[tuple[int, int]]:
    """Yield the arcs from x to degree*x + a modulo `nodes`, for each digit a."""
    for node in range(nodes):
        for digit in range(degree):
            yield node, (degree * node + digit) % nodes


@topology_builder(
    "de-bruijn",
    summary="de Bruijn graph: degree^length nodes, one-way links, low diameter; `degree` nodes have a loop",
    source="unit bandwidth; N. G. de Bruijn, A combinatorial problem (1946)",
)
@dataclass(frozen=True)
class DeBruijn(ArcRecipe):
    """A de Bruijn graph. The word of a node is its number in base `degree`; loops are left out."""

    degree: int = integer(2, "digits, and arcs that leave a node", minimum=2, is_size=True)
    length: int = integer(3, "digits of a word", maximum=MAX_DIMENSIONS, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def order(self) -> int:
        nodes: int = self.degree**self.length
        return nodes

    def degree_of_arcs(self) -> int:
        return self.degree

    def loops(self) -> int:
        """As `ArcRecipe.loops`: one for each word that repeats one digit."""
        return self.degree

    def arcs(self) -> Iterator[tuple[int, int]]:
        return shifts(self.degree, self.order())
