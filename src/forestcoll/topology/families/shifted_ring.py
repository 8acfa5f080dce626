"""Two bidirectional rings over the same nodes, with different strides (the shifted rings of TopoOpt at degree 4)."""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("shifted-ring", summary="two bidirectional rings, different strides", source="unit bandwidth")
@dataclass(frozen=True)
class ShiftedRing(Recipe):
    """The second stride is the greatest one below half the number of nodes that has no common divisor with it.

    If that stride is 1, the two rings are the same, and every link has twice the bandwidth.
    """

    nodes: int = integer(8, "compute nodes", minimum=3, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        return Size(self.nodes, (2 if second_stride(self.nodes) == 1 else 4) * self.nodes)

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.nodes)
        for stride in (1, second_stride(self.nodes)):
            for node in range(self.nodes):
                network.add_duplex(node, (node + stride) % self.nodes, self.bandwidth)


def second_stride(nodes: int) -> int:
    """Return the greatest stride below `nodes` / 2 that visits all nodes."""
    return next(stride for stride in range((nodes - 1) // 2, 0, -1) if gcd(stride, nodes) == 1)
