"""NVIDIA GB200 NVL72: a rack of 72 GPUs in one NVLink domain, a 400 Gb/s NIC per GPU; bandwidths and latencies.

A Blackwell GPU has eighteen fifth-generation NVLinks, 1.8 TB/s in both directions together, so 900 GB/s each way. One
switch here represents the nine NVLink switch trays of a rack. A compute tray has four GPUs and four ConnectX-7 NICs, so
each GPU has 400 Gb/s, or 50 GB/s each way, between racks. The switches can multicast and aggregate (NVLink SHARP);
`nvls=true` uses this.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import flag, integer, link_bandwidth
from forestcoll.topology.machines._boxes import NvlinkBoxes
from forestcoll.topology.machines.dgx_b200 import B200
from forestcoll.topology.registry import topology_builder

GB200 = replace(B200, name="gb200")


@topology_builder(
    "gb200-nvl72",
    summary="NVIDIA GB200 NVL72: racks of 72 GPUs on NVLink switches, InfiniBand between racks",
    source="nvidia.com/en-us/data-center/nvlink; docs.nvidia.com/dgx/dgxgb200-user-guide/hardware.html",
)
@dataclass(frozen=True)
class Gb200Nvl72(NvlinkBoxes):
    """Racks of GB200 NVL72; a rack is a box."""

    boxes: int = integer(1, "racks", is_size=True)
    gpus: int = integer(72, "GPUs of each rack", maximum=72)
    nvswitch_bandwidth: Fraction = link_bandwidth(900, "GB/s each way between a GPU and the NVLink switches")
    nvls: bool = flag("the NVLink switches multicast and aggregate")
