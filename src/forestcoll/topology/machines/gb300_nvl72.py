"""NVIDIA GB300 NVL72: a rack of 72 GPUs in one NVLink domain, an 800 Gb/s NIC per GPU; bandwidths and latencies.

The NVLinks are those of the GB200 NVL72, 900 GB/s each way of a GPU. Each GPU has a ConnectX-8 NIC at 800 Gb/s, or 100
GB/s each way, between racks.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.gb200_nvl72 import GB200, Gb200Nvl72
from forestcoll.topology.registry import topology_builder

GB300 = replace(GB200, name="gb300")


@topology_builder(
    "gb300-nvl72",
    summary="NVIDIA GB300 NVL72: racks of 72 GPUs on NVLink switches, 800 Gb/s of each GPU between racks",
    source="docs.nvidia.com, NVL72 Enterprise Reference Architecture",
)
@dataclass(frozen=True)
class Gb300Nvl72(Gb200Nvl72):
    """Racks of GB300 NVL72; a rack is a box."""

    nic_bandwidth: Fraction = link_bandwidth(100, "GB/s each way of a NIC")
