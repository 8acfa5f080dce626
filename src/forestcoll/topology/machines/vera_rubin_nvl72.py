"""NVIDIA Vera Rubin NVL72: a rack of 72 GPUs in one NVLink domain, two 800 Gb/s NICs per GPU; bandwidths.

NVIDIA also announced it as NVL144, counting two dies of each GPU. A Rubin GPU has 36 sixth-generation NVLinks, 3.6 TB/s
in both directions together, so 1,800 GB/s each way; a rack has 260 TB/s. Each GPU has two ConnectX-9 NICs at 800 Gb/s,
together 200 GB/s each way, which are one link here. The roadmap gives a ConnectX-9 as 1,600 Gb/s; the number of NICs of
a tray shows that this is the pair. NCCL's values of Rubin are not known here, so programs have no table of this GPU.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.gb200_nvl72 import Gb200Nvl72
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "vera-rubin-nvl72",
    summary="NVIDIA Vera Rubin NVL72 (NVL144): racks of 72 GPUs on NVLink switches, 1,600 Gb/s of each GPU outside",
    source="wheelersnetwork.com, Decoding Nvidia's Rubin Networking Math (NICs); "
    "drpranayjha.com/nvidia-nvlink-nvswitch-scale-up (NVLinks)",
)
@dataclass(frozen=True)
class VeraRubinNvl72(Gb200Nvl72):
    """Racks of Vera Rubin NVL72; a rack is a box."""

    nvswitch_bandwidth: Fraction = link_bandwidth(1800, "GB/s each way between a GPU and the NVLink switches")
    nic_bandwidth: Fraction = link_bandwidth(200, "GB/s each way of the two NICs of a GPU together")
