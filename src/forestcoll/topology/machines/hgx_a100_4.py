"""NVIDIA HGX A100 with four GPUs: NVLinks between every two, one 200 Gb/s NIC per GPU; latencies of the DGX A100.

An A100 has twelve third-generation NVLinks of 25 GB/s each way; four lead to each of the three others, so 100 GB/s each
way between two GPUs. The board with eight GPUs is that of `dgx-a100`. NVIDIA does not prescribe NICs for the board; one
of 200 Gb/s to a GPU, 25 GB/s each way, is usual.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import DirectBoxes
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "hgx-a100-4",
    summary="NVIDIA HGX A100 4-GPU: 4 GPUs joined by NVLinks without a switch, a NIC for each GPU",
    source="developer.nvidia.com/blog/introducing-hgx-a100-most-powerful-accelerated-server-platform-for-ai-hpc",
)
@dataclass(frozen=True)
class HgxA1004(DirectBoxes):
    """Boxes with an HGX A100 board of four GPUs."""

    boxes: int = integer(2, "boxes", is_size=True)
    gpus: int = integer(4, "GPUs of each box", maximum=4)
    nvlink_bandwidth: Fraction = link_bandwidth(100, "GB/s each way between two GPUs of a box")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        return dict.fromkeys(combinations(range(self.gpus), 2), self.nvlink_bandwidth)
