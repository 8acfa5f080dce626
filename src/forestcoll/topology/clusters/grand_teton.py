"""Meta's clusters of Grand Teton: eight H100 with eight 400 Gb/s NICs, racks of two boxes, three levels of switches.

The top-of-rack switch serves both boxes of a rack. Its uplinks have twice the bandwidth of its links downwards, to
avoid congestion. A pod has 192 racks, 3,072 GPUs. Between pods, links upwards have a seventh of the bandwidth of those
downwards. Sources differ in words: Meta's paper on Llama 3 calls a pod non-blocking, and its paper on RoCE gives the
uplinks of racks as undersubscribed 1:2; the figures of a pod agree. In a box, two GPUs and two NICs are on each PCIe
switch, whose bandwidth is no limit, so PCIe switches are left out.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder

RACK, POD = 2, 192
"""Boxes of a rack, and racks of a pod."""


@topology_builder(
    "grand-teton",
    summary="Meta's H100 clusters of Grand Teton: racks of 2 boxes, pods of 192 racks, 7:1 between pods",
    source="The Llama 3 Herd of Models (arXiv:2407.21783), 3.3.1; A. Gangidi et al., RDMA over Ethernet (SIGCOMM 2024)",
)
@dataclass(frozen=True)
class GrandTeton(PublishedCluster):
    """Boxes of Grand Teton."""

    def machine(self) -> str:
        return "dgx-h100"

    def fabric(self) -> Fabric:
        many = self.boxes > RACK * POD
        return Fabric(
            boxes=self.boxes,
            nics=8,
            rails=1,
            boxes_per_leaf=RACK,
            oversubscription=Fraction(1, 2) if self.boxes > RACK else Fraction(1),
            pod_leaves=POD if many else None,
            pod_oversubscription=Fraction(7) if many else Fraction(1),
            partial=True,
        )
