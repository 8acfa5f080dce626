"""The complete bipartite graph: a link between every node on the left and every node on the right."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "complete-bipartite",
    summary="complete bipartite graph: every left node joined to every right node",
    source="unit bandwidth",
)
@dataclass(frozen=True)
class CompleteBipartite(Recipe):
    """A complete bipartite graph; the left nodes come first."""

    left: int = integer(4, "compute nodes on the left", is_size=True)
    right: int = integer(4, "compute nodes on the right", is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        return Size(self.left + self.right, 2 * self.left * self.right)

    def fill(self, network: TopologyBuilder) -> None:
        nodes = self.left + self.right
        add_nodes(network, nodes)
        add_pairs(network, product(range(self.left), range(self.left, nodes)), self.bandwidth)
