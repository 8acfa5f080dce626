"""The mesh: a grid without wrap-around links."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.families._direct import GridRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder("mesh", summary="mesh (grid without wrap-around) of any dimensions", source="unit bandwidth")
@dataclass(frozen=True)
class Mesh(GridRecipe):
    """A mesh of one dimension is a path."""

    dims: tuple[int, ...] = dimensions((4, 4), "nodes along each dimension")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")
