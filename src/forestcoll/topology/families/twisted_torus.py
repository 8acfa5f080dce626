"""The twisted torus: a torus whose wrap-around links in the short dimensions also shift along the long one.

With a twist of half the long dimension it is the rectangular twisted torus of Cámara et al.: n x 2n in two dimensions,
and n x n x 2n in three, which a TPU v4 pod offers. It has as many links as a torus and a smaller diameter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from forestcoll.base.parameters import derived_integer, dimensions, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "twisted-torus",
    summary="twisted torus: wrap-around links also shift along the last dimension, by half its size",
    source="unit bandwidth; J. M. Cámara et al., Twisted torus topologies, IEEE TPDS 21 (2010)",
)
@dataclass(frozen=True)
class TwistedTorus(ArcRecipe):
    """A twisted torus. Nodes are numbered in row-major order; the last, long dimension wraps around without a shift."""

    dims: tuple[int, ...] = dimensions((4, 8), "nodes along each dimension, the long one last")
    twist: int | None = derived_integer("half the last", "shift of a wrap", minimum=1)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def problem(self) -> str | None:
        if len(self.dims) == 1:
            return "has one dimension, and nothing to twist; give two or more"
        if min(self.dims) < 3:
            return "a dimension has 2 nodes, which a wrap joins twice; make each 3 or more"
        if self._shift() >= self.dims[-1]:
            return f"twist is {self.twist}; with {self.dims[-1]} nodes along the last dimension it must be less"
        return None

    def order(self) -> int:
        return prod(self.dims)

    def degree_of_arcs(self) -> int:
        return 2 * len(self.dims)

    def arcs(self) -> Iterator[tuple[int, int]]:
        for node in range(self.order()):
            for dimension in range(len(self.dims)):
                ahead = self._ahead(node, dimension)
                yield node, ahead
                yield ahead, node

    def _shift(self) -> int:
        return self.dims[-1] // 2 if self.twist is None else self.twist

    def _ahead(self, node: int, dimension: int) -> int:
        """Return the node one step on from `node` along `dimension`."""
        last = len(self.dims) - 1
        stride = prod(self.dims[dimension + 1 :])
        place = node // stride % self.dims[dimension]
        wraps = place + 1 == self.dims[dimension]
        moved = node + stride - wraps * stride * self.dims[dimension]
        if not wraps or dimension == last:
            return moved
        along = moved % self.dims[last]
        return moved - along + (along + self._shift()) % self.dims[last]
