"""The dragonfly+ of Shpiner et al. (HiPINEB 2017): groups of leaf and spine routers, the spines joined all to all.

Compute nodes are at the leaves of a group. Each leaf has a link to each spine of its group, and each spine has links to
the spines of other groups. Leonardo and other InfiniBand systems have such networks. Between two groups there are as
many links as fit, or `pair_links`. For boxes with several GPUs, use `cluster` with `pod_leaves` and `global_bandwidth`.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from forestcoll.base.parameters import derived_integer, integer, link_bandwidth
from forestcoll.topology.families._dragonfly import DragonflyRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "dragonfly-plus",
    summary="dragonfly+: groups of leaf and spine routers, the spines of all groups joined all to all",
    source="unit bandwidth; A. Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, HiPINEB 2017",
)
@dataclass(frozen=True)
class DragonflyPlus(DragonflyRecipe):
    """A dragonfly+. Compute nodes are numbered from 0, leaf by leaf, group by group."""

    leaves: int = integer(2, "leaf routers of each group", is_size=True)
    spines: int = integer(2, "spine routers of each group", is_size=True)
    nodes: int = integer(2, "compute nodes of each leaf", is_size=True)
    global_links: int = integer(2, "links of each spine to other groups, at most", is_size=True)
    groups: int | None = derived_integer("spines*global_links/pair_links+1", "groups", minimum=2)
    pair_links: int | None = derived_integer("as many as fit", "links between each pair of groups", minimum=1)
    bandwidth: Fraction = link_bandwidth(1, "between a compute node and its leaf, each way")
    local_bandwidth: Fraction = link_bandwidth(1, "of a link between a leaf and a spine, each way")
    global_bandwidth: Fraction = link_bandwidth(1, "of a link between groups, each way")

    def node_routers(self) -> list[str]:
        return [f"leaf{leaf}" for leaf in range(self.leaves)]

    def global_routers(self) -> list[str]:
        return [f"spine{spine}" for spine in range(self.spines)]

    def local_pairs(self) -> list[tuple[str, str]]:
        return list(product(self.node_routers(), self.global_routers()))
