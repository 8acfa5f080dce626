"""Frontier: nodes of four MI250X (eight GPUs) with four NICs of 200 Gb/s, 128 to a dragonfly group, 74 groups.

Every two groups are joined by four links of 25 GB/s each way, so a group has 292 links to the 73 others for its 512
NICs. LUMI has the same nodes.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.clusters._slingshot import GROUP, SlingshotCluster
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "frontier",
    summary="Frontier: nodes of 8 MI250X GCDs and 4 NICs, dragonfly groups of 128 nodes, 4 links between two groups",
    source="glennklockwood.com/garden/systems/frontier, and garden/dragonfly; nodes as mi250x",
)
@dataclass(frozen=True)
class Frontier(SlingshotCluster):
    """Nodes of Frontier."""

    groups: int = integer(1, f"groups over which the nodes are spread evenly, {GROUP} in each at most", maximum=74)
    global_bandwidth: Fraction = link_bandwidth(100, "GB/s each way between each pair of groups, over four links")

    def machine(self) -> str:
        return "mi250x"
