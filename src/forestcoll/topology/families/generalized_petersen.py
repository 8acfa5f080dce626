"""The generalized Petersen graph GP(n, k): an outer circle of n nodes, each joined to a node of an inner circle.

Node i of the outer circle is joined to the nodes i-1 and i+1, and to node n + i. Node n + i is joined to the nodes
n + (i-k) and n + (i+k), modulo n. GP(5, 2) is the Petersen graph.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_COMPUTE, integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "generalized-petersen",
    summary="generalized Petersen graph: two circles of nodes, joined node by node; the default is the Petersen graph",
    source="unit bandwidth; M. E. Watkins, A theorem on Tait colorings with an application to the generalized Petersen "
    "graphs (1969)",
)
@dataclass(frozen=True)
class GeneralizedPetersen(ArcRecipe):
    """A generalized Petersen graph. All nodes have three links."""

    outer: int = integer(5, "nodes of each circle (n)", minimum=3, maximum=MAX_COMPUTE // 2, is_size=True)
    step: int = integer(2, "steps around the circle that an inner link spans (k)")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def problem(self) -> str | None:
        most = (self.outer - 1) // 2
        if self.step > most:
            return f"step {self.step} is too large; with {self.outer} nodes in a circle it must be at most {most}"
        return None

    def order(self) -> int:
        return 2 * self.outer

    def degree_of_arcs(self) -> int:
        return 3

    def arcs(self) -> Iterator[tuple[int, int]]:
        for node in range(self.outer):
            yield from ((node, (node + step) % self.outer) for step in (-1, 1))
            yield node, self.outer + node
        for node in range(self.outer):
            yield self.outer + node, node
            yield from (
                (self.outer + node, self.outer + (node + step) % self.outer) for step in (-self.step, self.step)
            )
