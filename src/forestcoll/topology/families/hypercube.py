"""The hypercube: nodes are numbers of `dim` bits, joined if exactly one bit differs."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs, grid_pairs
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("hypercube", summary="hypercube of 2^dim nodes", source="unit bandwidth")
@dataclass(frozen=True)
class Hypercube(Recipe):
    """2^dim nodes of degree `dim`."""

    dim: int = integer(3, "dimensions", maximum=MAX_DIMENSIONS, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        nodes = 2**self.dim
        return Size(nodes, nodes * self.dim)

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, 2**self.dim)
        add_pairs(network, grid_pairs([2] * self.dim, wrap=False), self.bandwidth)
