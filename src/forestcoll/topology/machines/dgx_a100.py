"""NVIDIA DGX A100: eight GPUs on an NVSwitch, one 200 Gb/s NIC per GPU; bandwidths and latencies.

An A100 has twelve third-generation NVLinks, 600 GB/s in both directions together, so 300 GB/s each way. A ConnectX-6
NIC at 200 Gb/s carries 25 GB/s each way. These are the numbers of Figure 1 of the ForestColl paper, which does not show
PCIe switches and NICs. `pcie=true` adds them as in the testbed of the paper: every two GPUs reach two NICs through a
PCIe switch, whose ports are PCIe 4.0 x16: 16 GT/s on 16 lanes, or 32 GB/s each way before encoding.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import flag, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import FABRIC, SwitchedBoxes, gpu_id
from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.registry import topology_builder

A100 = GpuModel(
    "a100",
    processors=108,
    channels=64,
    link_gbps=20.0,
    block_gbps=24.0,
    ll_us=0.6,
    link_us=3.4,
    network_us=14.0,
    nvls_efficiency=None,
)


@topology_builder(
    "dgx-a100",
    summary="NVIDIA DGX A100: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="ForestColl (arXiv:2402.06787), Figure 1; developer.nvidia.com/blog/defining-ai-innovation-with-dgx-a100",
)
@dataclass(frozen=True)
class DgxA100(SwitchedBoxes):
    """Boxes of DGX A100."""

    boxes: int = integer(2, "boxes", is_size=True)
    gpus: int = integer(8, "GPUs of each box", maximum=8)
    nvswitch_bandwidth: Fraction = link_bandwidth(300, "GB/s each way between a GPU and its NVSwitch")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")
    pcie: bool = flag("add the PCIe switches and NICs between GPUs and InfiniBand (two boxes or more)")
    pcie_bandwidth: Fraction = link_bandwidth(32, "GB/s each way of a PCIe switch's port, with pcie=true")

    def links_outside(self) -> int:
        """As `Boxes.links_outside`. With NICs, a GPU has a link to the PCIe switch and a NIC with two links."""
        return super().links_outside() * (3 if self.pcie else 1)

    def join(self, network: TopologyBuilder, box: int) -> None:
        if not self.pcie:
            super().join(network, box)
            return
        for gpu in range(self.gpus):
            pcie = f"b{box}/pcie{gpu // 2}"
            if gpu % 2 == 0:
                network.add_switch(pcie, box=box)
            nic = network.add_switch(f"b{box}/nic{gpu}", box=box)
            network.add_duplex(gpu_id(box, gpu), pcie, self.pcie_bandwidth)
            network.add_duplex(pcie, nic, self.pcie_bandwidth)
            network.add_duplex(nic, FABRIC, self.nic_bandwidth)
