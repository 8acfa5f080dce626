"""NVIDIA DGX H100: eight GPUs on an NVSwitch, one 400 Gb/s NIC a GPU.

An H100 has eighteen fourth-generation NVLinks, 900 GB/s both ways together, so 450 GB/s each way; a ConnectX-7 NIC at
400 Gb/s carries 50 GB/s each way. The ForestColl paper's H100 testbed has the same numbers. The third-generation
NVSwitch can multicast and add up (NVLink SHARP, "NVLS"), which `nvls=true` states of it.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import add_box_switches, add_gpus, direct_links, join_boxes
from forestcoll.topology.parameters import flag, integer, positive
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "dgx-h100",
    summary="NVIDIA DGX H100: 8 GPUs on an NVSwitch, InfiniBand between boxes",
    source="ForestColl (arXiv:2402.06787), H100 testbed; docs.nvidia.com/dgx-basepod, core components",
)
@dataclass(frozen=True)
class DgxH100(Recipe):
    """Boxes of DGX H100."""

    boxes: int = field(default=2, metadata=integer("boxes", is_size=True))
    gpus: int = field(default=8, metadata=integer("GPUs of each box", maximum=8))
    nvswitch_bandwidth: Fraction = field(
        default=Fraction(450), metadata=positive("GB/s each way between a GPU and its NVSwitch")
    )
    ib_bandwidth: Fraction = field(default=Fraction(50), metadata=positive("GB/s each way of a NIC"))
    nvls: bool = field(default=False, metadata=flag("the NVSwitch multicasts and adds up"))

    def size(self) -> Size:
        """As `Recipe.size`."""
        compute = self.boxes * self.gpus
        return Size(compute, 2 * compute + direct_links(self.boxes, self.gpus))

    def fill(self, network: TopologyBuilder) -> None:
        """As `Recipe.fill`."""
        add_gpus(network, self.boxes, self.gpus)
        add_box_switches(network, self.boxes, self.gpus, self.nvswitch_bandwidth, in_network=self.nvls)
        join_boxes(network, self.boxes, self.gpus, self.ib_bandwidth)
