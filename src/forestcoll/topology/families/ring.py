"""The ring: node i is joined to node i+1, and the last to the first."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import flag, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs, grid_pairs, grid_size
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("ring", summary="ring, bidirectional or one-way", source="unit bandwidth")
@dataclass(frozen=True)
class Ring(Recipe):
    """A ring. A ring of two nodes has one full-duplex link."""

    nodes: int = integer(8, "compute nodes", minimum=2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")
    one_way: bool = flag("each node sends to the next only")
    parallel: int = integer(1, "parallel links, whose bandwidths add up", maximum=1024)

    def size(self) -> Size:
        links = self.nodes if self.one_way else grid_size([self.nodes], wrap=True).links
        return Size(self.nodes, self.parallel * links)

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.nodes)
        together = self.parallel * self.bandwidth
        if not self.one_way:
            add_pairs(network, grid_pairs([self.nodes], wrap=True), together)
            return
        for node in range(self.nodes):
            network.add_link(node, (node + 1) % self.nodes, together)
