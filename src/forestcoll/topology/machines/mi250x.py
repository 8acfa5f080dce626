"""AMD MI250X in nodes of Frontier, LUMI and others: eight GPUs (GCDs), a 200 Gb/s NIC for each pair; bandwidths.

An Infinity Fabric link runs at 25 GT/s on 16 lanes: 50 GB/s each way. A node has four cards of two dies, and the links
between dies that RCCL's model of such a node lists. The NIC of a card, 25 GB/s each way, is at its second die; data of
the first die crosses the links within the card.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.machines._boxes import FABRIC, DirectBoxes, gpu_id
from forestcoll.topology.registry import topology_builder

FABRIC_LINKS = {
    (0, 1): 4, (0, 4): 2, (0, 6): 1,
    (1, 3): 1, (1, 7): 1,
    (2, 3): 4, (2, 4): 1, (2, 6): 2,
    (3, 5): 1,
    (4, 5): 4,
    (5, 7): 1,
    (6, 7): 4,
}  # fmt: skip
"""For each pair of GPUs of a node, the number of Infinity Fabric links between them."""


@topology_builder(
    "mi250x",
    summary="AMD MI250X: 8 GPUs (GCDs) on direct Infinity Fabric links, a 200 Gb/s NIC for each pair",
    source="github.com/ROCm/rccl, tools/topo_expl/models/topo_8p1h.xml; docs.olcf.ornl.gov, Frontier user guide (NICs)",
)
@dataclass(frozen=True)
class Mi250x(DirectBoxes):
    """Nodes of MI250X."""

    boxes: int = integer(1, "nodes", is_size=True)
    gpus: int = integer(8, "GPUs of each node: numbers 0 to gpus-1", maximum=8)
    fabric_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of one Infinity Fabric link")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC, one for two GPUs")

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        return {pair: count * self.fabric_bandwidth for pair, count in FABRIC_LINKS.items() if max(pair) < self.gpus}

    def links_outside(self) -> int:
        return 2 * ((self.gpus + 1) // 2)

    def join(self, network: TopologyBuilder, box: int) -> None:
        for card in range((self.gpus + 1) // 2):
            network.add_duplex(gpu_id(box, min(2 * card + 1, self.gpus - 1)), FABRIC, self.nic_bandwidth)
