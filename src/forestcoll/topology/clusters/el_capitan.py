"""El Capitan: nodes of four MI300A with four NICs of 200 Gb/s, in dragonfly groups of Slingshot.

The groups are those that Slingshot systems usually have. How many links join two groups of El Capitan is not published,
so there is no limit between groups unless `global_bandwidth` is given: 100 is four links, as in Frontier.
"""

from dataclasses import dataclass

from forestcoll.topology.clusters._slingshot import SlingshotCluster
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "el-capitan",
    summary="El Capitan: nodes of 4 MI300A and 4 NICs, dragonfly groups; links between groups are not published",
    source="hpc.llnl.gov/node/1244; glennklockwood.com/garden/dragonfly (usual groups); nodes as mi300a",
)
@dataclass(frozen=True)
class ElCapitan(SlingshotCluster):
    """Nodes of El Capitan."""

    def machine(self) -> str:
        return "mi300a"
