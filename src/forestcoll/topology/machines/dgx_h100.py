"""NVIDIA DGX H100: eight GPUs on an NVSwitch, one 400 Gb/s NIC per GPU; bandwidths and latencies.

An H100 has eighteen fourth-generation NVLinks, 900 GB/s in both directions together, so 450 GB/s each way. A ConnectX-7
NIC at 400 Gb/s carries 50 GB/s each way. The H100 testbed of the ForestColl paper has the same numbers. The
third-generation NVSwitch can multicast and aggregate (NVLink SHARP, "NVLS"); `nvls=true` uses this.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines._boxes import NvlinkBoxes
from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.registry import topology_builder

H100 = GpuModel(
    "h100",
    processors=132,
    channels=64,
    link_gbps=20.6,
    block_gbps=38.7,
    ll_us=0.6,
    link_us=3.4,
    network_us=14.0,
    nvls_efficiency=0.85,
)


@topology_builder(
    "dgx-h100",
    summary="NVIDIA DGX H100: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="ForestColl (arXiv:2402.06787), H100 testbed; docs.nvidia.com/dgx-basepod, core components",
)
@dataclass(frozen=True)
class DgxH100(NvlinkBoxes):
    """Boxes of DGX H100."""

    nvswitch_bandwidth: Fraction = link_bandwidth(450, "GB/s each way between a GPU and its NVSwitch")
