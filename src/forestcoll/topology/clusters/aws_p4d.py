"""AWS EC2 p4d.24xlarge: eight A100, four EFA NICs of 100 Gb/s, each shared by two GPUs.

The instance has 400 Gb/s in total, 12.5 GB/s each way to a NIC. AWS calls the network between instances non-blocking,
so one switch joins them.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "aws-p4d",
    summary="AWS p4d.24xlarge: 8 A100 on an NVSwitch, 4 EFA NICs shared by two GPUs each",
    source="aws.amazon.com/ec2/instance-types/p4; github.com/stas00/ml-engineering, network/README.md",
)
@dataclass(frozen=True)
class AwsP4d(PublishedCluster):
    """Instances of p4d.24xlarge."""

    nic_bandwidth: Fraction = link_bandwidth(Fraction(25, 2), "GB/s each way of an EFA NIC")

    def machine(self) -> str:
        return "dgx-a100"

    def fabric(self) -> Fabric:
        return Fabric(boxes=self.boxes, nics=4, rails=1)
