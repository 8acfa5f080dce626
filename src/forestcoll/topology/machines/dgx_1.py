"""NVIDIA DGX-1 with V100: eight GPUs in a hybrid cube mesh of NVLinks, four 100 Gb/s NICs; bandwidths.

A V100 has six second-generation NVLinks of 25 GB/s each way. Sixteen pairs of GPUs are joined: along the twelve edges
of a cube and the diagonals of two of its faces. Eight of these pairs, which form one ring, have two links. GPUs have
the numbers that `nvidia-smi topo -m` prints.

Between boxes, GPUs 2i and 2i+1 share NIC i (EDR InfiniBand, 12.5 GB/s each way) behind a PCIe switch. Each GPU reaches
the PCIe switch by PCIe 3.0 x16: 8 GT/s on 16 lanes, or 16 GB/s each way before encoding. A single box has no PCIe.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import DirectBoxes, SharedNics
from forestcoll.topology.registry import topology_builder

NVLINKS = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (0, 4): 2,
    (1, 2): 2, (1, 3): 1, (1, 5): 2,
    (2, 3): 2, (2, 6): 1,
    (3, 7): 1,
    (4, 5): 1, (4, 6): 1, (4, 7): 2,
    (5, 6): 2, (5, 7): 1,
    (6, 7): 2,
}  # fmt: skip
"""For each pair of GPUs of a box, the number of NVLinks between them."""


@topology_builder(
    "dgx-1",
    summary="NVIDIA DGX-1 (V100): 8 GPUs in a hybrid cube mesh, InfiniBand shared by two GPUs",
    source="NVIDIA DGX-1 system architecture white paper, WP-08437; nvidia-smi topo -m of a DGX-1",
)
@dataclass(frozen=True)
class Dgx1(SharedNics, DirectBoxes):
    """Boxes of DGX-1 with V100."""

    boxes: int = integer(1, "boxes", is_size=True)
    gpus: int = integer(8, "GPUs of each box: numbers 0 to gpus-1", maximum=8)
    nvlink_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of one NVLink")
    nic_bandwidth: Fraction = link_bandwidth(Fraction(25, 2), "GB/s each way of a NIC, which two GPUs share")
    pcie_bandwidth: Fraction = link_bandwidth(16, "GB/s each way between a GPU and its PCIe switch (two boxes or more)")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        return {pair: count * self.nvlink_bandwidth for pair, count in NVLINKS.items() if max(pair) < self.gpus}
