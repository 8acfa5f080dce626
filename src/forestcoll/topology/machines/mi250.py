"""AMD MI250: sixteen GPUs (dies) per box on direct Infinity Fabric links, InfiniBand; bandwidths and latencies.

An Infinity Fabric link runs at 25 GT/s on 16 lanes: 50 GB/s each way. A box has eight cards of two dies. The four links
within a card and the links between cards are those of the testbed of the ForestColl paper (Figure 9a), whose NICs give
each GPU 16 GB/s each way. The 8+8 setting of the paper is `gpus=8`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import DirectBoxes
from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.registry import topology_builder

FABRIC_LINKS = {
    (0, 1): 4, (0, 4): 2, (0, 8): 1,
    (1, 5): 1, (1, 9): 1, (1, 10): 1,
    (2, 3): 4, (2, 6): 1, (2, 9): 1, (2, 10): 1,
    (3, 7): 2, (3, 11): 1,
    (4, 5): 4, (4, 6): 1,
    (5, 6): 1, (5, 7): 1,
    (6, 7): 4,
    (8, 9): 4, (8, 12): 2,
    (9, 13): 1,
    (10, 11): 4, (10, 14): 1,
    (11, 15): 2,
    (12, 13): 4, (12, 14): 1,
    (13, 14): 1, (13, 15): 1,
    (14, 15): 4,
}  # fmt: skip
"""For each pair of GPUs of a box, the number of Infinity Fabric links between them."""

MI250 = GpuModel(
    "mi250",
    processors=104,
    channels=128,
    link_gbps=36.0,
    block_gbps=None,
    ll_us=0.8,
    link_us=3.6,
    network_us=47.6,
    nvls_efficiency=None,
)


@topology_builder(
    "mi250",
    summary="AMD MI250: 16 GPUs (dies) on direct Infinity Fabric links, InfiniBand between boxes",
    source="ForestColl (arXiv:2402.06787), Figures 1 and 9; rocm.docs.amd.com, MI250 microarchitecture",
)
@dataclass(frozen=True)
class Mi250(DirectBoxes):
    """Boxes of MI250."""

    boxes: int = integer(2, "boxes", is_size=True)
    gpus: int = integer(16, "GPUs of each box: numbers 0 to gpus-1", maximum=16)
    fabric_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of one Infinity Fabric link")
    nic_bandwidth: Fraction = link_bandwidth(16, "GB/s each way between a GPU and InfiniBand")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        return {pair: count * self.fabric_bandwidth for pair, count in FABRIC_LINKS.items() if max(pair) < self.gpus}
