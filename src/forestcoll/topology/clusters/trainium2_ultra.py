"""AWS Trn2 UltraServer: four trn2u.48xlarge, 64 Trainium2 chips; chips of the same place form rings of four.

In an instance the chips form a 4 x 4 torus with 128 GB/s each way to a neighbour, as in `trainium2`. The third
dimension joins the chips of the same place of the four instances in a ring, with 64 GB/s each way to a neighbour. The
UltraServer has 12.8 Tb/s outside, 25 GB/s each way to a chip.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.clusters._published import ChipGrids
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "trainium2-ultra",
    summary="AWS Trn2 UltraServer: 64 Trainium2 chips, four 4 x 4 tori joined by rings, EFA between UltraServers",
    source="awsdocs-neuron.readthedocs-hosted.com, Trn2 architecture; aws.amazon.com/ec2/instance-types/trn2",
)
@dataclass(frozen=True)
class Trainium2Ultra(ChipGrids):
    """UltraServers; an UltraServer is a box."""

    boxes: int = integer(1, "UltraServers", is_size=True)
    neuronlink_bandwidth: Fraction = link_bandwidth(128, "GB/s each way between neighbours in an instance")
    ring_bandwidth: Fraction = link_bandwidth(64, "GB/s each way between neighbouring instances, of each chip")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a chip's EFA NIC")

    def grid(self) -> tuple[tuple[int, Fraction], ...]:
        return ((4, self.ring_bandwidth), (4, self.neuronlink_bandwidth), (4, self.neuronlink_bandwidth))
