"""NVIDIA DGX H200: eight GPUs on an NVSwitch, one 400 Gb/s NIC per GPU; all links and latencies of the DGX H100.

An H200 has eighteen fourth-generation NVLinks, 450 GB/s each way. It differs from the H100 in its memory only.
"""

from dataclasses import dataclass, replace

from forestcoll.topology.machines.dgx_h100 import H100, DgxH100
from forestcoll.topology.registry import topology_builder

H200 = replace(H100, name="h200")


@topology_builder(
    "dgx-h200",
    summary="NVIDIA DGX H200: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="docs.nvidia.com/dgx/dgxh100-user-guide, introduction to DGX H100/H200",
)
@dataclass(frozen=True)
class DgxH200(DgxH100):
    """Boxes of DGX H200."""
