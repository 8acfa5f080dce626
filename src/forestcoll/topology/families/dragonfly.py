"""The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008): routers joined all to all in groups, groups all to all.

A group has a routers; a router has p nodes and h global links. By default there are g = a*h + 1 groups, and each pair
of groups has one link. With fewer groups every pair has the same number of links, floor(a*h / (g-1)) or `pair_links`,
and the other global ports are unused.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.parameters import derived_integer, integer, link_bandwidth
from forestcoll.topology.families._dragonfly import DragonflyRecipe
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "dragonfly",
    summary="dragonfly: groups of routers joined all to all, groups joined all to all",
    source="unit bandwidth; J. Kim et al., Technology-driven, highly-scalable dragonfly topology, ISCA 2008",
)
@dataclass(frozen=True)
class Dragonfly(DragonflyRecipe):
    """A dragonfly. Compute nodes are numbered from 0, router by router, group by group."""

    routers: int = integer(4, "routers of each group (a)", is_size=True)
    nodes: int = integer(2, "compute nodes of each router (p)", is_size=True)
    global_links: int = integer(2, "links of each router to other groups (h), at most", is_size=True)
    groups: int | None = derived_integer("routers*global_links/pair_links+1", "groups (g)", minimum=2)
    pair_links: int | None = derived_integer("as many as fit", "links between each pair of groups", minimum=1)
    bandwidth: Fraction = link_bandwidth(1, "between a compute node and its router, each way")
    local_bandwidth: Fraction = link_bandwidth(1, "of a link between routers of a group, each way")
    global_bandwidth: Fraction = link_bandwidth(1, "of a link between groups, each way")

    def node_routers(self) -> list[str]:
        return [f"router{router}" for router in range(self.routers)]

    def global_routers(self) -> list[str]:
        return self.node_routers()

    def local_pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.node_routers(), 2))
