"""NVIDIA DGX H200: eight GPUs on an NVSwitch, one 400 Gb/s NIC per GPU; all links and latencies of the DGX H100.

An H200 has eighteen fourth-generation NVLinks, 450 GB/s each way. It differs from the H100 in its memory only.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import NvlinkBoxes
from forestcoll.topology.machines.dgx_h100 import H100
from forestcoll.topology.registry import topology_builder

H200 = replace(H100, name="h200")


@topology_builder(
    "dgx-h200",
    summary="NVIDIA DGX H200: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="docs.nvidia.com/dgx/dgxh100-user-guide, introduction to DGX H100/H200",
)
@dataclass(frozen=True)
class DgxH200(NvlinkBoxes):
    """Boxes of DGX H200."""

    boxes: int = integer(2, "boxes", is_size=True)
    gpus: int = integer(8, "GPUs of each box", maximum=8)
    nvswitch_bandwidth: Fraction = link_bandwidth(450, "GB/s each way between a GPU and its NVSwitch")
