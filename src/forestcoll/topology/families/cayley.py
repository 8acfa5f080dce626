"""Cayley graphs of metacyclic groups: vertex-transitive networks of low diameter, at nearly any size.

The elements of the group are pairs (a, b), with a modulo `outer` and b modulo `inner`. The product is
(a, b) * (c, d) = (a + ratio^b * c, b + d), where ratio^inner = 1 modulo `outer`. The pair (a, b) is node a * inner + b.
Node x has a one-way link to x * g for each generator g. If the inverse of each generator is a generator too, the
network has links in both directions. With inner = 1 it is a directed circulant graph.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, integers, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


@dataclass(frozen=True)
class Metacyclic:
    """The group of pairs (a, b) with `outer` times `inner` elements; the pair (a, b) has the number a * inner + b."""

    outer: int
    inner: int
    ratio: int

    @property
    def order(self) -> int:
        """Return the number of elements."""
        return self.outer * self.inner

    @property
    def is_group(self) -> bool:
        """Return whether ratio^inner is 1 modulo `outer`; otherwise the product is not associative."""
        return pow(self.ratio, self.inner, self.outer) == 1 % self.outer

    def product(self, one: int, other: int) -> int:
        """Return one * other."""
        first, second = divmod(one, self.inner)
        third, fourth = divmod(other, self.inner)
        turned = first + pow(self.ratio, second, self.outer) * third
        return turned % self.outer * self.inner + (second + fourth) % self.inner

    def inverse(self, element: int) -> int:
        """Return the inverse of `element`: their product is 0, the neutral element."""
        first, second = divmod(element, self.inner)
        back = -second % self.inner
        return -first * pow(self.ratio, back, self.outer) % self.outer * self.inner + back


@topology_builder(
    "cayley",
    summary="Cayley graph of a metacyclic group: vertex-transitive, of low diameter",
    source="unit bandwidth; design chooses generators",
)
@dataclass(frozen=True)
class Cayley(ArcRecipe):
    """The defaults make 32 nodes with a bandwidth-optimal allgather of three steps; degree 4 allows no fewer steps."""

    outer: int = integer(16, "elements of the outer cycle", minimum=2, is_size=True)
    inner: int = integer(2, "elements of the inner cycle, which acts on the outer", is_size=True)
    ratio: int = integer(7, "factor of one inner step; ratio^inner = 1 mod outer", is_size=True)
    generators: tuple[int, ...] = integers((27, 28, 25, 23), "numbers of the generators")
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def problem(self) -> str | None:
        if not self.group().is_group:
            return (
                f"ratio^inner is {pow(self.ratio, self.inner, self.outer)} modulo outer; choose ratio so that it is 1"
            )
        if max(self.generators) >= self.order():
            return f"generator {max(self.generators)} is too large; with {self.order()} nodes it must be less than that"
        if len(set(self.generators)) < len(self.generators):
            return "a generator is given twice; give each once"
        return None

    def group(self) -> Metacyclic:
        """Return the group."""
        return Metacyclic(self.outer, self.inner, self.ratio)

    def order(self) -> int:
        return self.outer * self.inner

    def degree_of_arcs(self) -> int:
        return len(self.generators)

    def arcs(self) -> Iterator[tuple[int, int]]:
        return cayley_arcs(self.group(), self.generators)


def cayley_arcs(group: Metacyclic, generators: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the arcs from every x to x * g, for each generator g."""
    for node in range(group.order):
        for generator in generators:
            yield node, group.product(node, generator)
