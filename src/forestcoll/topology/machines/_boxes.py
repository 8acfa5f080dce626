"""What machines share: ids, GPUs in boxes, a switch in each box, a switch that joins the boxes.

All links are full duplex, so every node sends as fast as it receives. One switch called `ib` joins the boxes. It
represents a non-blocking fabric of any kind. A single box has no links to the outside.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import flag, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size

FABRIC = "ib"
"""The id of the switch that joins the boxes."""


def gpu_id(box: int, gpu: int) -> str:
    """Return the id of GPU number `gpu` of box number `box`."""
    return f"b{box}/gpu{gpu}"


def add_gpus(network: TopologyBuilder, boxes: int, gpus: int) -> None:
    """Add `gpus` compute nodes in each of `boxes` boxes."""
    for box in range(boxes):
        for gpu in range(gpus):
            network.add_compute(gpu_id(box, gpu), box=box)


def add_box_switches(
    network: TopologyBuilder, boxes: int, gpus: int, bandwidth: Fraction, *, in_network: bool = False
) -> None:
    """Add to each box an NVSwitch with links of `bandwidth` to its GPUs; `in_network`: it multicasts and aggregates."""
    for box in range(boxes):
        switch = network.add_switch(f"b{box}/nvswitch", multicast=in_network, aggregation=in_network, box=box)
        for gpu in range(gpus):
            network.add_duplex(gpu_id(box, gpu), switch, bandwidth)


def join_boxes(network: TopologyBuilder, boxes: int, gpus: int, bandwidth: Fraction) -> None:
    """Join two or more boxes by a switch, to which every GPU has a link of `bandwidth`."""
    if boxes == 1:
        return
    network.add_switch(FABRIC)
    for box in range(boxes):
        for gpu in range(gpus):
            network.add_duplex(gpu_id(box, gpu), FABRIC, bandwidth)


def join_boxes_by_pairs(
    network: TopologyBuilder, boxes: int, gpus: int, pcie_bandwidth: Fraction, nic_bandwidth: Fraction
) -> None:
    """Join two or more boxes by a switch; every two GPUs share a NIC, which is behind a PCIe switch.

    The link of a GPU to its PCIe switch has `pcie_bandwidth`. The link of the PCIe switch to the switch that joins the
    boxes represents the NIC and has `nic_bandwidth`.
    """
    if boxes == 1:
        return
    network.add_switch(FABRIC)
    for box in range(boxes):
        for pair in range((gpus + 1) // 2):
            pcie = network.add_switch(f"b{box}/pcie{pair}", box=box)
            network.add_duplex(pcie, FABRIC, nic_bandwidth)
            for gpu in range(2 * pair, min(2 * pair + 2, gpus)):
                network.add_duplex(gpu_id(box, gpu), pcie, pcie_bandwidth)


def paired_links(boxes: int, gpus: int) -> int:
    """Return the number of one-way links that `join_boxes_by_pairs` adds."""
    return 2 * boxes * (gpus + (gpus + 1) // 2) if boxes > 1 else 0


def direct_links(boxes: int, gpus: int) -> int:
    """Return the number of one-way links that `join_boxes` adds."""
    return 2 * boxes * gpus if boxes > 1 else 0


@dataclass(frozen=True)
class NvlinkBoxes(Recipe):
    """Boxes with an NVSwitch, which may multicast and aggregate, and a NIC for each GPU; a machine sets the numbers."""

    boxes: int
    gpus: int
    nvswitch_bandwidth: Fraction
    ib_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of a NIC")
    nvls: bool = flag("the NVSwitch multicasts and aggregates")

    def size(self) -> Size:
        """As `Recipe.size`."""
        compute = self.boxes * self.gpus
        return Size(compute, 2 * compute + direct_links(self.boxes, self.gpus))

    def fill(self, network: TopologyBuilder) -> None:
        """As `Recipe.fill`."""
        add_gpus(network, self.boxes, self.gpus)
        add_box_switches(network, self.boxes, self.gpus, self.nvswitch_bandwidth, in_network=self.nvls)
        join_boxes(network, self.boxes, self.gpus, self.ib_bandwidth)
