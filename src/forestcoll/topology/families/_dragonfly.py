"""Code that dragonflies share: groups, each pair of which is joined by the same number of links.

Port k of a group leads to the group k+1 positions further, modulo g, round by round (the "palm tree" arrangement). The
used ports are distributed over the routers with global links in order, so that no router has more than h.
"""

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size


class DragonflyRecipe(Recipe):
    """Groups of routers. A family declares these attributes, and what is in a group.

    Attributes:
        nodes: the compute nodes of each router that has some.
        global_links: the most links of each router to other groups.
        groups: the number of groups; None for the most, with one link between two groups.
        pair_links: the links between each pair of groups; None for the most.
        bandwidth: the bandwidth between a compute node and its router.
        local_bandwidth: the bandwidth of a link within a group.
        global_bandwidth: the bandwidth of a link between groups.
    """

    nodes: int
    global_links: int
    groups: int | None
    pair_links: int | None
    bandwidth: Fraction
    local_bandwidth: Fraction
    global_bandwidth: Fraction

    @abstractmethod
    def node_routers(self) -> list[str]:
        """Return the names of the routers of a group that have compute nodes."""

    @abstractmethod
    def global_routers(self) -> list[str]:
        """Return the names of the routers of a group that have global links."""

    @abstractmethod
    def local_pairs(self) -> list[tuple[str, str]]:
        """Return the names of each pair of routers of a group that is joined."""

    @property
    def _ports(self) -> int:
        return len(self.global_routers()) * self.global_links

    @property
    def _groups(self) -> int:
        return self._ports // (self.pair_links or 1) + 1 if self.groups is None else self.groups

    @property
    def _used(self) -> int:
        """The number of global ports of a group that are used: the same number to each other group."""
        others = self._groups - 1
        return others * (self._ports // others if self.pair_links is None else self.pair_links)

    def problem(self) -> str | None:
        links = self.pair_links or 1
        if self._groups < 2 or links * (self._groups - 1) > self._ports:
            most = self._ports // links + 1
            each = "" if self.pair_links is None else f", {links} for each other group"
            fix = f"it is at most {most}" if most > 1 else "make pair_links smaller"
            return f"groups is {self._groups}; with {self._ports} global links of a group{each} {fix}"
        return None

    def size(self) -> Size:
        compute = self.nodes * len(self.node_routers()) * self._groups
        local = 2 * self._groups * len(self.local_pairs())
        return Size(compute, 2 * compute + local + self._groups * self._used)

    def fill(self, network: TopologyBuilder) -> None:
        of_group = self.nodes * len(self.node_routers())
        for node in range(of_group * self._groups):
            network.add_compute(node, group=node // of_group)
        for group in range(self._groups):
            for router in dict.fromkeys([*self.node_routers(), *self.global_routers()]):
                network.add_switch(f"g{group}/{router}", group=group)
            for place in range(of_group):
                router = f"g{group}/{self.node_routers()[place // self.nodes]}"
                network.add_duplex(group * of_group + place, router, self.bandwidth)
            for one, other in self.local_pairs():
                network.add_duplex(f"g{group}/{one}", f"g{group}/{other}", self.local_bandwidth)
        for one, other in self._global_pairs():
            network.add_duplex(one, other, self.global_bandwidth)

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
        return f"g{group}/{self.global_routers()[port * len(self.global_routers()) // self._used]}"
