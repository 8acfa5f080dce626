"""Huawei CloudMatrix 384: supernodes of 48 nodes with 8 Ascend 910C, switches in seven planes, RDMA between supernodes.

A 910C (two chips, one node here) has 392 GB/s each way of the Unified Bus, 56 in each of seven planes. A node has one
switch (L1) in each plane, with 448 GB/s each way up to the switches (L2) of its plane: 8 * 56, so the fabric is
non-blocking. One switch stands for the 16 L2 switches of a plane. Between supernodes, each 910C has 400 Gb/s of RDMA,
50 GB/s each way. The Kunpeng processors, which have links of their own, are left out.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import Boxes, gpu_id
from forestcoll.topology.registry import topology_builder

NODE, PLANES = 8, 7
"""Chips of a node, and planes of the Unified Bus."""


@topology_builder(
    "cloudmatrix-384",
    summary="Huawei CloudMatrix 384: supernodes of 384 Ascend 910C on switches in 7 planes, RDMA between supernodes",
    source="P. Zuo et al., Serving Large Language Models on Huawei CloudMatrix384 (arXiv:2506.12708)",
)
@dataclass(frozen=True)
class CloudMatrix384(Boxes):
    """Supernodes of CloudMatrix 384; a supernode is a box."""

    boxes: int = integer(1, "supernodes", is_size=True)
    gpus: int = integer(384, "chips of each supernode, eight to a node", maximum=384)
    scale_up_bandwidth: Fraction = link_bandwidth(392, "GB/s each way between a chip and the Unified Bus, all planes")
    nic_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of a chip's RDMA NIC")

    @property
    def _nodes(self) -> int:
        return -(-self.gpus // NODE)

    def links_inside(self) -> int:
        return 2 * PLANES * (self.gpus + self._nodes)

    def fill_box(self, network: TopologyBuilder, box: int) -> None:
        bandwidth = self.scale_up_bandwidth / PLANES
        for plane in range(PLANES):
            upper = network.add_switch(f"b{box}/plane{plane}", box=box, tier="L2", plane=plane)
            for node in range(self._nodes):
                lower = network.add_switch(f"b{box}/node{node}/plane{plane}", box=box, tier="L1", plane=plane)
                network.add_duplex(lower, upper, NODE * bandwidth)
                for gpu in range(node * NODE, min((node + 1) * NODE, self.gpus)):
                    network.add_duplex(gpu_id(box, gpu), lower, bandwidth)
