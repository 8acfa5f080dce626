"""The mesh: a grid without wrap-around links."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs, grid_pairs, grid_size
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("mesh", summary="mesh (grid without wrap-around) of any dimensions", source="unit bandwidth")
@dataclass(frozen=True)
class Mesh(Recipe):
    """A mesh of one dimension is a path."""

    dims: tuple[int, ...] = dimensions((4, 4), "nodes along each dimension")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        nodes, pairs = grid_size(self.dims, wrap=False)
        return Size(nodes, 2 * pairs)

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.size().compute)
        add_pairs(network, grid_pairs(self.dims, wrap=False), self.bandwidth)
