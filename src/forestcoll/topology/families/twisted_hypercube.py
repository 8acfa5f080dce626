"""The twisted hypercube of Esfahanian, Ni and Sagan (1991): a hypercube with two links of one 4-cycle exchanged.

The links 0-1 and 2-3 become the diagonals 0-3 and 1-2. The number of nodes and the degree stay; the diameter is one
less.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe, grid_pairs
from forestcoll.topology.registry import topology_builder

_EXCHANGED = {(0, 1): (0, 3), (2, 3): (1, 2)}


@topology_builder(
    "twisted-hypercube",
    summary="hypercube of 2^dim nodes with two links exchanged, which makes the diameter dim - 1",
    source="unit bandwidth; A.-H. Esfahanian et al., The twisted N-cube, IEEE Trans. Computers 40 (1991)",
)
@dataclass(frozen=True)
class TwistedHypercube(ArcRecipe):
    """A twisted hypercube of 2^dim nodes of degree `dim`."""

    dim: int = integer(3, "dimensions", minimum=3, maximum=MAX_DIMENSIONS, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def order(self) -> int:
        nodes: int = 2**self.dim
        return nodes

    def degree_of_arcs(self) -> int:
        return self.dim

    def arcs(self) -> Iterator[tuple[int, int]]:
        for pair in grid_pairs([2] * self.dim, wrap=False):
            one, other = _EXCHANGED.get(pair, pair)
            yield one, other
            yield other, one
