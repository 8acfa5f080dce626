"""Alps: nodes of four GH200 with four NICs of 200 Gb/s, in dragonfly groups of Slingshot, 2,688 nodes.

The groups are those that Slingshot systems usually have. How many links join two groups of Alps is not published, so
there is no limit between groups unless `global_bandwidth` is given: 100 is four links, as in Frontier.
"""

from dataclasses import dataclass

from forestcoll.topology.clusters._slingshot import SlingshotCluster
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "alps",
    summary="Alps: nodes of 4 GH200 and 4 NICs, dragonfly groups; links between groups are not published",
    source="arXiv:2408.14090; docs.cscs.ch/alps/hardware; glennklockwood.com/garden/dragonfly (usual groups)",
)
@dataclass(frozen=True)
class Alps(SlingshotCluster):
    """Nodes of Alps."""

    def machine(self) -> str:
        return "gh200-4"
