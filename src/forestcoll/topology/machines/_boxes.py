"""What machines share: ids, GPUs in boxes, the links of a box, a switch that joins the boxes.

All links are full duplex, so every node sends as fast as it receives. One switch called `ib` joins the boxes. It
represents a non-blocking fabric of any kind. A single box has no links to the outside.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.parameters import flag, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size

FABRIC = "ib"
"""The id of the switch that joins the boxes."""


def gpu_id(box: int, gpu: int) -> str:
    """Return the id of GPU number `gpu` of box number `box`."""
    return f"b{box}/gpu{gpu}"


class Boxes(Recipe):
    """Boxes of GPUs with links inside, and a switch that joins two or more boxes, to which every GPU has a link.

    A machine is a dataclass that declares these attributes, in the order of its parameters:

    Attributes:
        boxes: the number of boxes.
        gpus: the GPUs of each box.
        nic_bandwidth: the bandwidth of the link to the switch that joins the boxes.
    """

    boxes: int
    gpus: int
    nic_bandwidth: Fraction

    @abstractmethod
    def links_inside(self) -> int:
        """Return the number of one-way links of a box."""

    def links_outside(self) -> int:
        """Return the number of one-way links that join a box to others."""
        return 2 * self.gpus

    @abstractmethod
    def fill_box(self, network: TopologyBuilder, box: int) -> None:
        """Add the links of a box; its GPUs are there."""

    def join(self, network: TopologyBuilder, box: int) -> None:
        """Add the links between a box and the switch that joins the boxes."""
        for gpu in range(self.gpus):
            network.add_duplex(gpu_id(box, gpu), FABRIC, self.nic_bandwidth)

    def size(self) -> Size:
        outside = self.links_outside() if self.boxes > 1 else 0
        return Size(self.boxes * self.gpus, self.boxes * (self.links_inside() + outside))

    def fill(self, network: TopologyBuilder) -> None:
        for box in range(self.boxes):
            for gpu in range(self.gpus):
                network.add_compute(gpu_id(box, gpu), box=box)
        for box in range(self.boxes):
            self.fill_box(network, box)
        if self.boxes > 1:
            network.add_switch(FABRIC)
            for box in range(self.boxes):
                self.join(network, box)


class DirectBoxes(Boxes):
    """Boxes in which links join pairs of GPUs."""

    @abstractmethod
    def pairs(self) -> Mapping[tuple[int, int], Fraction]:
        """Return the bandwidth between two GPUs of a box, for each pair that is joined."""

    def links_inside(self) -> int:
        return 2 * len(self.pairs())

    def fill_box(self, network: TopologyBuilder, box: int) -> None:
        for (one, other), bandwidth in self.pairs().items():
            network.add_duplex(gpu_id(box, one), gpu_id(box, other), bandwidth)


@dataclass(frozen=True)
class FullyConnectedBoxes(DirectBoxes):
    """Boxes of eight GPUs with links between every two, and a NIC for each GPU; a machine sets the numbers."""

    boxes: int = integer(1, "boxes", is_size=True)
    gpus: int = integer(8, "GPUs of each box", maximum=8)
    fabric_bandwidth: Fraction = link_bandwidth(64, "GB/s each way of the Infinity Fabric link between two GPUs")
    nic_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of a NIC")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        return dict.fromkeys(combinations(range(self.gpus), 2), self.fabric_bandwidth)


class SwitchedBoxes(Boxes):
    """Boxes with an NVSwitch, which may multicast and aggregate (`nvls`), with links of `nvswitch_bandwidth`."""

    nvswitch_bandwidth: Fraction
    nvls: bool = False

    def links_inside(self) -> int:
        return 2 * self.gpus

    def fill_box(self, network: TopologyBuilder, box: int) -> None:
        switch = network.add_switch(f"b{box}/nvswitch", multicast=self.nvls, aggregation=self.nvls, box=box)
        for gpu in range(self.gpus):
            network.add_duplex(gpu_id(box, gpu), switch, self.nvswitch_bandwidth)


class SharedNics(Boxes):
    """Boxes in which every two GPUs share a NIC, which is behind a PCIe switch.

    The link of a GPU to its PCIe switch has `pcie_bandwidth`. The link of the PCIe switch to the switch that joins the
    boxes represents the NIC and has `nic_bandwidth`.
    """

    pcie_bandwidth: Fraction

    def links_outside(self) -> int:
        return 2 * (self.gpus + (self.gpus + 1) // 2)

    def join(self, network: TopologyBuilder, box: int) -> None:
        for pair in range((self.gpus + 1) // 2):
            pcie = network.add_switch(f"b{box}/pcie{pair}", box=box)
            network.add_duplex(pcie, FABRIC, self.nic_bandwidth)
            for gpu in range(2 * pair, min(2 * pair + 2, self.gpus)):
                network.add_duplex(gpu_id(box, gpu), pcie, self.pcie_bandwidth)


@dataclass(frozen=True)
class NvlinkBoxes(SwitchedBoxes):
    """Boxes of eight GPUs with NVLink SHARP and a NIC of 400 Gb/s for each GPU; a machine sets the numbers."""

    boxes: int = integer(2, "boxes", is_size=True)
    gpus: int = integer(8, "GPUs of each box", maximum=8)
    nvswitch_bandwidth: Fraction = link_bandwidth(450, "GB/s each way between a GPU and its NVSwitch")
    nic_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of a NIC")
    nvls: bool = flag("the NVSwitch multicasts and aggregates")
