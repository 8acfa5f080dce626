"""AMD MI300A in nodes of El Capitan: four APUs, every two joined by two Infinity Fabric links; bandwidths.

Livermore gives two links with 256 GB/s in both directions together between any two APUs: 128 GB/s each way. RCCL's
model of a node of four (topo_4p_940.xml) has one link, half of that. An APU has a Slingshot NIC of 200 Gb/s, 25 GB/s
each way; a node has ports for up to eight, two to an APU.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.machines._boxes import FullyConnectedBoxes
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "mi300a",
    summary="AMD MI300A: 4 fully connected APUs, a 200 Gb/s NIC for each (RCCL's model has half the links)",
    source="hpc.llnl.gov/node/1244, El Capitan systems",
)
@dataclass(frozen=True)
class Mi300a(FullyConnectedBoxes):
    """Nodes of MI300A."""

    boxes: int = integer(1, "nodes", is_size=True)
    gpus: int = integer(4, "APUs of each node", maximum=4)
    fabric_bandwidth: Fraction = link_bandwidth(128, "GB/s each way between two APUs")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")
