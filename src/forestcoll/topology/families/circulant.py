"""The circulant graph C(nodes, offsets): node i is joined to node i + offset, modulo nodes, for each offset."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes
from forestcoll.topology.parameters import flag, integer, integers, link_bandwidth
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder("circulant", summary="circulant graph, bidirectional or one-way", source="unit bandwidth")
@dataclass(frozen=True)
class Circulant(Recipe):
    """A circulant graph. An offset of half the nodes joins two opposite nodes by one full-duplex link, not two."""

    nodes: int = field(default=16, metadata=integer("compute nodes", minimum=2, is_size=True))
    offsets: tuple[int, ...] = field(default=(3, 4), metadata=integers("steps around the circle that a link spans"))
    bandwidth: Fraction = field(default=Fraction(1), metadata=link_bandwidth("of each link, each way"))
    one_way: bool = field(default=False, metadata=flag("links lead forward only"))

    def problem(self) -> str | None:
        """As `Recipe.problem`."""
        most = self.nodes - 1 if self.one_way else self.nodes // 2
        if max(self.offsets) > most:
            return f"offset {max(self.offsets)} is too large; with {self.nodes} nodes it must be at most {most}"
        if len(set(self.offsets)) < len(self.offsets):
            return "an offset is given twice; give each once"
        if (common := gcd(self.nodes, *self.offsets)) > 1:
            return f"nodes and offsets are all multiples of {common}, so the network is disconnected; add an offset"
        return None

    def size(self) -> Size:
        """As `Recipe.size`."""
        return Size(self.nodes, self.nodes * len(self._steps()))

    def fill(self, network: TopologyBuilder) -> None:
        """As `Recipe.fill`."""
        add_nodes(network, self.nodes)
        for node in range(self.nodes):
            for step in self._steps():
                network.add_link(node, (node + step) % self.nodes, self.bandwidth)

    def _steps(self) -> list[int]:
        back = set() if self.one_way else {self.nodes - offset for offset in self.offsets}
        return sorted(back | set(self.offsets))
