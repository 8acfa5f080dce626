"""NVIDIA DGX B200: eight GPUs on an NVSwitch, one 400 Gb/s NIC per GPU; bandwidths and latencies.

A B200 has eighteen fifth-generation NVLinks, 1.8 TB/s in both directions together, so 900 GB/s each way. A ConnectX-7
NIC at 400 Gb/s carries 50 GB/s each way. The NVSwitch can multicast and aggregate (NVLink SHARP);
`nvls=true` uses this.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines._boxes import NvlinkBoxes
from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.registry import topology_builder

B200 = GpuModel(
    "b200",
    processors=148,
    channels=64,
    link_gbps=40.1,
    block_gbps=70.0,
    ll_us=0.6,
    link_us=3.4,
    network_us=14.0,
    nvls_efficiency=0.74,
)


@topology_builder(
    "dgx-b200",
    summary="NVIDIA DGX B200: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="docs.nvidia.com/dgx/dgxb200-user-guide, introduction to DGX B200",
)
@dataclass(frozen=True)
class DgxB200(NvlinkBoxes):
    """Boxes of DGX B200."""

    nvswitch_bandwidth: Fraction = link_bandwidth(900, "GB/s each way between a GPU and its NVSwitch")
