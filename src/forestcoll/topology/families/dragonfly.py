"""The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008): routers joined all to all in groups, groups all to all.

A group has a routers; a router has p nodes and h global links. By default there are g = a*h + 1 groups, and each pair
of groups has one link. With fewer groups every pair has the same number of links, floor(a*h / (g-1)), and the other
global ports are unused. Port k of a group leads to the group k+1 positions further, modulo g, round by round (the "palm
tree" arrangement). The used ports are distributed over the routers in order, so that no router has more than h.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.parameters import derived_integer, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "dragonfly",
    summary="dragonfly: groups of routers joined all to all, groups joined all to all",
    source="unit bandwidth; J. Kim et al., Technology-driven, highly-scalable dragonfly topology, ISCA 2008",
)
@dataclass(frozen=True)
class Dragonfly(Recipe):
    """A dragonfly. Compute nodes are numbered from 0, router by router, group by group."""

    routers: int = integer(4, "routers of each group (a)", is_size=True)
    nodes: int = integer(2, "compute nodes of each router (p)", is_size=True)
    global_links: int = integer(2, "links of each router to other groups (h), at most", is_size=True)
    groups: int | None = derived_integer("routers*global_links+1", "groups (g)", minimum=2)
    bandwidth: Fraction = link_bandwidth(1, "between a compute node and its router, each way")
    local_bandwidth: Fraction = link_bandwidth(1, "of a link between routers of a group, each way")
    global_bandwidth: Fraction = link_bandwidth(1, "of a link between groups, each way")

    @property
    def _ports(self) -> int:
        return self.routers * self.global_links

    @property
    def _groups(self) -> int:
        return self._ports + 1 if self.groups is None else self.groups

    @property
    def _used(self) -> int:
        """The number of global ports of a group that are used: the same number to each other group."""
        others = self._groups - 1
        return self._ports // others * others

    def problem(self) -> str | None:
        if self._groups > self._ports + 1:
            return (
                f"groups is {self._groups}; with routers*global_links = {self._ports} it is at most {self._ports + 1}"
            )
        return None

    def size(self) -> Size:
        compute = self.nodes * self.routers * self._groups
        local = self._groups * self.routers * (self.routers - 1)
        return Size(compute, 2 * compute + local + self._groups * self._used)

    def fill(self, network: TopologyBuilder) -> None:
        for node in range(self.size().compute):
            network.add_compute(node, group=node // (self.nodes * self.routers))
        for group in range(self._groups):
            self._add_group(network, group)
        for one, other in self._global_pairs():
            network.add_duplex(one, other, self.global_bandwidth)

    def _add_group(self, network: TopologyBuilder, group: int) -> None:
        routers = [network.add_switch(f"g{group}/router{router}", group=group) for router in range(self.routers)]
        first = group * self.routers * self.nodes
        for place in range(self.routers * self.nodes):
            network.add_duplex(first + place, routers[place // self.nodes], self.bandwidth)
        for one, other in combinations(routers, 2):
            network.add_duplex(one, other, self.local_bandwidth)

    def _global_pairs(self) -> Iterator[tuple[str, str]]:
        others = self._groups - 1
        for group in range(self._groups):
            for port in range(self._used):
                start, ahead = port - port % others, port % others + 1
                target = (group + ahead) % self._groups
                if group < target:
                    # Seen from the other group, this one is groups - ahead further: use the port of the same round
                    # there.
                    back = start + self._groups - ahead - 1
                    yield self._router(group, port), self._router(target, back)

    def _router(self, group: int, port: int) -> str:
        return f"g{group}/router{port * self.routers // self._used}"
