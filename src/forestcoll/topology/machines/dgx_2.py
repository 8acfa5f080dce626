"""NVIDIA DGX-2: sixteen V100 on NVSwitches, eight 100 Gb/s NICs; bandwidths.

A V100 has six second-generation NVLinks of 25 GB/s each way, one to each of the six NVSwitches of its baseboard: 150
GB/s each way. The twelve NVSwitches of a box are non-blocking, so one switch represents them here. Between boxes, GPUs
2i and 2i+1 share NIC i (EDR InfiniBand, 12.5 GB/s each way) behind a PCIe switch. Each GPU reaches the PCIe switch by
PCIe 3.0 x16: 16 GB/s each way before encoding. A single box has no PCIe.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import SharedNics, SwitchedBoxes
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "dgx-2",
    summary="NVIDIA DGX-2: 16 V100 on NVSwitches, InfiniBand shared by two GPUs",
    source="anandtech.com/show/12581 (NVSwitch); pcper.com/2018/03/nvidia-announces-dgx-2-with-16-gv100s-8-100gb-nics",
)
@dataclass(frozen=True)
class Dgx2(SharedNics, SwitchedBoxes):
    """Boxes of DGX-2."""

    boxes: int = integer(1, "boxes", is_size=True)
    gpus: int = integer(16, "GPUs of each box", maximum=16)
    nvswitch_bandwidth: Fraction = link_bandwidth(150, "GB/s each way between a GPU and the NVSwitches")
    nic_bandwidth: Fraction = link_bandwidth(Fraction(25, 2), "GB/s each way of a NIC, which two GPUs share")
    pcie_bandwidth: Fraction = link_bandwidth(16, "GB/s each way between a GPU and its PCIe switch (two boxes or more)")
