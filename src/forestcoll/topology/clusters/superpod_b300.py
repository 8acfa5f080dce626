"""NVIDIA DGX SuperPOD with DGX B300 on Ethernet: scalable units of 64 boxes, 8 rails, two planes.

A GPU has 800 Gb/s outside its box: two ports of 400 GbE, one in each plane. So a scalable unit of 64 boxes has 16 leaf
switches, 8 rails in 2 planes, and spine switches join the leaves of a plane at full bandwidth. NVIDIA's variant with
XDR InfiniBand differs: 72 boxes to a unit, one port of 800 Gb/s to a GPU, one plane, 8 leaves; that is
`cluster:box=dgx-b200,nics=8,nic_bandwidth=100,rails=8,boxes_per_leaf=72`. The NVLinks of a B300 are those of a B200.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.machines.dgx_b200 import B200
from forestcoll.topology.registry import topology_builder

UNIT = 64
"""Boxes of a scalable unit."""

B300 = replace(B200, name="b300")


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
        return "dgx-b200"

    def fabric(self) -> Fabric:
        return Fabric(boxes=self.boxes, nics=8, rails=8, planes=2, boxes_per_leaf=UNIT, partial=True)
