"""Alibaba HPN: eight GPUs and eight NICs of 2 x 200 Gb/s to a box, 8 rails in two planes, segments of 1,024 GPUs.

Each NIC has one port in each plane, so a rail of a segment has two top-of-rack switches. A segment has 128 boxes. A
top-of-rack switch has 128 ports of 200 Gb/s downwards and 60 of 400 Gb/s upwards, 16:15. A pod has 15 segments, and
between pods the bandwidth is a fifteenth. The paper does not name the GPU; it gives NVLink as 400 to 900 GB/s in both
directions together. The default is the lower figure, that of an H800: 200 GB/s each way.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder

SEGMENT, POD = 128, 15
"""Boxes of a segment, and segments of a pod."""

RAILS = 8


@topology_builder(
    "alibaba-hpn",
    summary="Alibaba HPN: 8 rails in 2 planes, segments of 128 boxes, pods of 15 segments, 15:1 between pods",
    source="K. Qian et al., Alibaba HPN: A Data Center Network for Large Language Model Training (SIGCOMM 2024)",
)
@dataclass(frozen=True)
class AlibabaHpn(PublishedCluster):
    """Boxes on an HPN."""

    nvswitch_bandwidth: Fraction = link_bandwidth(200, "GB/s each way between a GPU and its NVSwitch")

    def machine(self) -> str:
        return f"dgx-h100:nvswitch_bandwidth={self.nvswitch_bandwidth}"

    def fabric(self) -> Fabric:
        many = self.boxes > SEGMENT * POD
        return Fabric(
            boxes=self.boxes,
            nics=8,
            rails=RAILS,
            planes=2,
            boxes_per_leaf=SEGMENT,
            oversubscription=Fraction(16, 15),
            pod_leaves=POD * RAILS if many else None,
            pod_oversubscription=Fraction(15) if many else Fraction(1),
            partial=True,
        )
