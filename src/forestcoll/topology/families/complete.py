"""The complete graph: a link between any two nodes."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("complete", summary="complete graph: any two nodes are joined", source="unit bandwidth")
@dataclass(frozen=True)
class Complete(Recipe):
    """A network in which any two nodes are joined."""

    nodes: int = integer(8, "compute nodes", minimum=2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        return Size(self.nodes, self.nodes * (self.nodes - 1))

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.nodes)
        add_pairs(network, combinations(range(self.nodes), 2), self.bandwidth)
