"""NVIDIA DGX SuperPOD with DGX B300 on Ethernet: scalable units of 64 boxes, 8 rails, two planes.

A GPU has 800 Gb/s outside its box: two ports of 400 GbE, one in each plane. So a scalable unit of 64 boxes has 16 leaf
switches, 8 rails in 2 planes, and spine switches join the leaves of a plane at full bandwidth. NVIDIA's variant with
XDR InfiniBand differs: 72 boxes to a unit, one port of 800 Gb/s to a GPU, one plane, 8 leaves; that is
`cluster:box=dgx-b300,rails=8,boxes_per_leaf=72`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder

UNIT = 64
"""Boxes of a scalable unit."""


@topology_builder(
    "superpod-b300",
    summary="NVIDIA DGX SuperPOD, DGX B300: 8 rails in 2 planes, scalable units of 64 boxes, full bandwidth",
    source="docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300, Table 3",
)
@dataclass(frozen=True)
class SuperpodB300(PublishedCluster):
    """A SuperPOD of DGX B300."""

    nic_bandwidth: Fraction = link_bandwidth(100, "GB/s each way of a NIC, over both planes")

    def machine(self) -> str:
        return "dgx-b300"

    def fabric(self) -> Fabric:
        return Fabric(boxes=self.boxes, nics=8, rails=8, planes=2, boxes_per_leaf=UNIT, partial=True)
