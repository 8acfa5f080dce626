"""AWS Trn3 UltraServer (Gen2): servers of four Trainium3 chips on switches, 18 servers to a rack, two racks.

A chip has eleven NeuronLinks (PCIe 6.0 x8, 64 GB/s each way): four to the switch of its server, five to that of its
rack, and two to the chip of the same place in the other rack. That these two are one link to one chip is derived. They
add up to 704 GB/s each way. **Disputed**: other tables of AWS give 2,048 GiB/s or 2.56 TB/s to a chip, which no number
of these links yields (the issue below is open). EFA, between UltraServers, is not in the sources and left out.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size, topology_builder

CHIPS, RACKS = 4, 2
"""Chips of a server, and racks of an UltraServer."""


@topology_builder(
    "trainium3",
    summary="AWS Trn3 UltraServer: servers of 4 Trainium3 on switches, two racks of 18 servers (bandwidth disputed)",
    source="awsdocs-neuron.readthedocs-hosted.com, Trn3 architecture; github.com/aws-neuron/aws-neuron-sdk, issue 1396",
)
@dataclass(frozen=True)
class Trainium3(Recipe):
    """A Trn3 Gen2 UltraServer, or an equal part of both racks; a server is a box."""

    boxes: int = integer(36, "servers, half of them in each rack", minimum=2, maximum=36, is_size=True)
    neuronlink_bandwidth: Fraction = link_bandwidth(64, "GB/s each way of one NeuronLink")

    def problem(self) -> str | None:
        return f"boxes is {self.boxes}; give an even number, for two racks" if self.boxes % RACKS else None

    def size(self) -> Size:
        chips = self.boxes * CHIPS
        return Size(chips, 2 * (2 * chips + chips // RACKS))

    def fill(self, network: TopologyBuilder) -> None:
        for box in range(self.boxes):
            for chip in range(CHIPS):
                network.add_compute(f"b{box}/chip{chip}", box=box)
        rack = self.boxes // RACKS
        for number in range(RACKS):
            network.add_switch(f"rack{number}/switch", tier="rack")
        for box in range(self.boxes):
            switch = network.add_switch(f"b{box}/switch", box=box)
            for chip in range(CHIPS):
                name = f"b{box}/chip{chip}"
                network.add_duplex(name, switch, 4 * self.neuronlink_bandwidth)
                network.add_duplex(name, f"rack{box // rack}/switch", 5 * self.neuronlink_bandwidth)
                if box < rack:
                    network.add_duplex(name, f"b{box + rack}/chip{chip}", 2 * self.neuronlink_bandwidth)
