"""The torus: a grid in which each line closes to a ring."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs, grid_pairs, grid_size
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("torus", summary="torus of any dimensions", source="unit bandwidth")
@dataclass(frozen=True)
class Torus(Recipe):
    """A torus. A dimension of size 2 has one link between its two nodes, not two."""

    dims: tuple[int, ...] = dimensions((4, 4, 4), "nodes along each dimension")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        nodes, pairs = grid_size(self.dims, wrap=True)
        return Size(nodes, 2 * pairs)

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.size().compute)
        add_pairs(network, grid_pairs(self.dims, wrap=True), self.bandwidth)
