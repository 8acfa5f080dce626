"""AWS EC2 p5.48xlarge: eight H100, 32 EFA NICs of 100 Gb/s, four to a GPU.

The instance has 3,200 Gb/s in total, 12.5 GB/s each way to a NIC. AWS calls the network between instances non-blocking,
so one switch joins them.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "aws-p5",
    summary="AWS p5.48xlarge: 8 H100 on an NVSwitch, 32 EFA NICs, four to a GPU",
    source="aws.amazon.com/ec2/instance-types/p5; github.com/stas00/ml-engineering, network/README.md",
)
@dataclass(frozen=True)
class AwsP5(PublishedCluster):
    """Instances of p5.48xlarge."""

    nic_bandwidth: Fraction = link_bandwidth(Fraction(25, 2), "GB/s each way of an EFA NIC")

    def machine(self) -> str:
        return "dgx-h100"

    def fabric(self) -> Fabric:
        return Fabric(boxes=self.boxes, nics=32, rails=1)
