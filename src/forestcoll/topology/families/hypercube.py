"""The hypercube: nodes are numbers of `dim` bits, joined if exactly one bit differs."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.families._direct import GridRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder("hypercube", summary="hypercube of 2^dim nodes", source="unit bandwidth")
@dataclass(frozen=True)
class Hypercube(GridRecipe):
    """2^dim nodes of degree `dim`."""

    dim: int = integer(3, "dimensions", maximum=MAX_DIMENSIONS, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def sizes(self) -> tuple[int, ...]:
        return (2,) * self.dim
