"""The torus: a grid in which each line closes to a ring."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.families._direct import GridRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder("torus", summary="torus of any dimensions", source="unit bandwidth")
@dataclass(frozen=True)
class Torus(GridRecipe):
    """A torus. A dimension of size 2 has one link between its two nodes, not two."""

    dims: tuple[int, ...] = dimensions((4, 4, 4), "nodes along each dimension")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def wraps(self) -> bool:
        return True
