"""NVIDIA DGX Spark (GB10): two to four systems of one GPU, joined by cables without a switch; bandwidths.

The ConnectX-7 of a system has two ports of 200 Gb/s, 25 GB/s each way, behind two PCIe 5.0 x4, 16 GB/s each way. Each
port reaches both, so the NIC carries 32 GB/s in all. Two systems have one cable, or two; three and four form a ring.
Two systems with one cable reached 41.9 GB/s (algbw) in an allgather; the bound is 50. For more systems on a switch, use
`cluster:box=dgx-spark,boxes=8`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "dgx-spark",
    summary="NVIDIA DGX Spark (GB10): 2 to 4 systems, joined by cables in a ring",
    source="servethehome.com, The NVIDIA GB10 ConnectX-7 200GbE Networking is Really Different; "
    "github.com/NVIDIA/nccl, issue 2202; github.com/NVIDIA/dgx-spark-playbooks, issue 25 (measured)",
)
@dataclass(frozen=True)
class DgxSpark(Recipe):
    """Systems of one GPU and one NIC; a system is a box."""

    boxes: int = integer(2, "systems", minimum=2, maximum=4, is_size=True)
    cables: int = integer(1, "cables between neighbours; 2 are for two systems", maximum=2)
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a port of the NIC")
    pcie_bandwidth: Fraction = link_bandwidth(32, "GB/s each way between a GPU and its NIC")

    def problem(self) -> str | None:
        if self.cables * min(self.boxes - 1, 2) > 2:
            return f"{self.boxes} systems with {self.cables} cables need more than two ports each; leave cables out"
        return None

    def size(self) -> Size:
        return Size(self.boxes, 2 * (self.boxes + len(self._neighbours())))

    def _neighbours(self) -> list[tuple[int, int]]:
        ring = [(box, (box + 1) % self.boxes) for box in range(self.boxes)]
        return ring if self.boxes > 2 else ring[:1]

    def fill(self, network: TopologyBuilder) -> None:
        for box in range(self.boxes):
            network.add_compute(f"b{box}/gpu0", box=box)
        for box in range(self.boxes):
            nic = network.add_switch(f"b{box}/nic0", box=box, device="nic")
            network.add_duplex(f"b{box}/gpu0", nic, self.pcie_bandwidth)
        for one, other in self._neighbours():
            network.add_duplex(f"b{one}/nic0", f"b{other}/nic0", self.cables * self.nic_bandwidth)
