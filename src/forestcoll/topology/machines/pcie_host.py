"""A host whose GPUs have no links but PCIe: sockets, PCIe switches below them, and GPUs below these.

A GPU has PCIe 4.0 x16 by default, 32 GB/s each way before encoding, as has each PCIe switch towards its socket. Every
two sockets are joined. The default of their link, 64 GB/s each way, is that of four xGMI links at 16 GT/s, of which
Rome and Milan hosts have three or four; three UPI links of Sapphire Rapids at 16 GT/s are 48 GB/s. NICs are below the
PCIe switches. For GPUs directly at the sockets, give each a switch of its own (`switches` as many as `gpus`).

The bound assumes that GPUs send to each other directly (peer to peer). Where they cannot, as with GeForce cards, all
data crosses the memory of the host, and less is reached: 8 RTX 5090 on two sockets reached a busbw of 28 GB/s, 4 on one
socket 35 (nccl issues 1530 and 1639; PCIe 5.0, so `pcie_bandwidth=64`).
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import FABRIC, Boxes, gpu_id
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "pcie-host",
    summary="hosts without NVLink: GPUs on PCIe switches, PCIe switches on sockets, sockets joined, shared NICs",
    source="PCIe 4.0: 16 GT/s on 16 lanes; the link between sockets differs by host, so set socket_bandwidth",
)
@dataclass(frozen=True)
class PcieHost(Boxes):
    """Hosts of sockets, PCIe switches and GPUs, each spread evenly over the level above."""

    boxes: int = integer(1, "hosts", is_size=True)
    gpus: int = integer(8, "GPUs of each host, spread over its PCIe switches", maximum=32)
    sockets: int = integer(2, "sockets of each host", maximum=8)
    switches: int = integer(4, "PCIe switches of each host, spread over its sockets", maximum=32)
    nics: int = integer(1, "NICs of each host, spread over its PCIe switches (two hosts or more)", maximum=32)
    pcie_bandwidth: Fraction = link_bandwidth(32, "GB/s each way of a GPU, and of a PCIe switch to its socket")
    socket_bandwidth: Fraction = link_bandwidth(64, "GB/s each way between two sockets")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")

    def links_inside(self) -> int:
        return 2 * (self.gpus + self.switches) + self.sockets * (self.sockets - 1)

    def links_outside(self) -> int:
        return 4 * self.nics

    def fill_box(self, network: TopologyBuilder, box: int) -> None:
        cpus = [network.add_switch(f"b{box}/cpu{socket}", box=box) for socket in range(self.sockets)]
        for socket, cpu in enumerate(cpus):
            for other in cpus[:socket]:
                network.add_duplex(other, cpu, self.socket_bandwidth)
        for switch in range(self.switches):
            pcie = network.add_switch(f"b{box}/pcie{switch}", box=box)
            network.add_duplex(pcie, cpus[switch * self.sockets // self.switches], self.pcie_bandwidth)
        for gpu in range(self.gpus):
            network.add_duplex(gpu_id(box, gpu), self._pcie(box, gpu, self.gpus), self.pcie_bandwidth)

    def join(self, network: TopologyBuilder, box: int) -> None:
        for nic in range(self.nics):
            device = network.add_switch(f"b{box}/nic{nic}", box=box, device="nic")
            network.add_duplex(self._pcie(box, nic, self.nics), device, self.pcie_bandwidth)
            network.add_duplex(device, FABRIC, self.nic_bandwidth)

    def _pcie(self, box: int, place: int, count: int) -> str:
        """Return the PCIe switch of device number `place` of `count`."""
        return f"b{box}/pcie{place * self.switches // count}"
