"""What machines on Slingshot share: nodes with four NICs of 200 Gb/s, in groups that are joined all to all.

A group has 32 switches. Each has 16 links to NICs and one to each other switch of the group, all of 25 GB/s. From any s
of the switches, s * (32 - s) links lead to the others, at least 16 for each switch on the smaller side, as many as its
NICs have. So no cut within a group is tighter than the NICs, and one switch stands for the group. Every two groups are
joined by a few links, which are one link here. Data between two groups may also cross a third one, if it is in the job.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import derived_bandwidth, integer, link_bandwidth
from forestcoll.topology.clusters._published import PublishedCluster
from forestcoll.topology.clusters.joining.fabric import Fabric

GROUP = 128
"""Nodes of a group: 32 switches with 16 links to NICs, four of which a node has."""


@dataclass(frozen=True)
class SlingshotCluster(PublishedCluster):
    """Nodes in dragonfly groups; a node is a box."""

    boxes: int = integer(2, "nodes", is_size=True)
    groups: int = integer(1, f"groups over which the nodes are spread evenly, with at most {GROUP} in each")
    nic_bandwidth: Fraction = link_bandwidth(25, "GB/s each way of a NIC")
    global_bandwidth: Fraction | None = derived_bandwidth("no limit", "GB/s each way between each pair of groups")

    def problem(self) -> str | None:
        if self.boxes % self.groups or self.boxes > GROUP * self.groups:
            fix = f"give each of the groups the same number of nodes, {GROUP} at most"
            return f"{self.boxes} nodes do not fit in {self.groups} groups; {fix}"
        return super().problem()

    def fabric(self) -> Fabric:
        return Fabric(
            boxes=self.boxes,
            nics=4,
            rails=1,
            boxes_per_leaf=self.boxes // self.groups,
            global_bandwidth=self.global_bandwidth if self.groups > 1 else None,
        )
