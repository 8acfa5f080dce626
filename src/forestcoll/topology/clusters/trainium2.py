"""AWS trn2.48xlarge: sixteen Trainium2 chips in a 4 x 4 torus of NeuronLinks, 16 EFA NICs of 200 Gb/s.

AWS publishes 1 TB/s of NeuronLink to a chip in both directions together and does not say how it is divided. 128 GB/s
each way to each of the four neighbours is derived from that. The instance has 3.2 Tb/s outside, 25 GB/s each way to a
chip. The switch `efa` stands for the network between instances.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.clusters._published import ChipGrids
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "trainium2",
    summary="AWS trn2.48xlarge: 16 Trainium2 chips in a 4 x 4 torus, EFA between instances",
    source="awsdocs-neuron.readthedocs-hosted.com, Trn2 architecture; 128 GB/s a neighbour is derived",
)
@dataclass(frozen=True)
class Trainium2(ChipGrids):
    """Instances of trn2.48xlarge; an instance is a box."""

    boxes: int = integer(1, "instances", is_size=True)
    neuronlink_bandwidth: Fraction = link_bandwidth(128, "GB/s each way between neighbours of the torus")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a chip's EFA NIC")

    def grid(self) -> tuple[tuple[int, Fraction], ...]:
        return ((4, self.neuronlink_bandwidth), (4, self.neuronlink_bandwidth))
