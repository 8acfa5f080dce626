"""The fat tree of Leiserson (1985): a tree of switches, compute nodes at the leaves, links wider towards the root.

A switch has `arity` children. Its link upwards has the total bandwidth of its links downwards, divided by
`oversubscription`. A folded Clos network (leaf and spine switches) with traffic spread evenly over the spines carries
exactly what this tree does, so one switch here represents all spines of a level.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth, positive
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes
from forestcoll.topology.model import NodeId
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "fat-tree",
    summary="fat tree (folded Clos): levels of switches, optionally oversubscribed",
    source="unit bandwidth; C. E. Leiserson, Fat-trees, IEEE Trans. Computers 34 (1985)",
)
@dataclass(frozen=True)
class FatTree(Recipe):
    """A fat tree. Compute nodes are numbered from 0, `arity` to each switch of level 1; the root is the top switch."""

    levels: int = integer(2, "levels of switches", maximum=MAX_DIMENSIONS, is_size=True)
    arity: int = integer(4, "children of a switch: compute nodes at level 1", minimum=2, is_size=True)
    oversubscription: Fraction = positive(1, "bandwidth down divided by bandwidth up, of each switch but the root")
    bandwidth: Fraction = link_bandwidth(1, "of a compute node's link, each way")

    def size(self) -> Size:
        below = sum(self.arity**height for height in range(1, self.levels + 1))
        return Size(self.arity**self.levels, 2 * below)

    def fill(self, network: TopologyBuilder) -> None:
        children: list[NodeId] = list(range(self.arity**self.levels))
        add_nodes(network, len(children))
        bandwidth = self.bandwidth
        for level in range(1, self.levels + 1):
            children = self._add_level(network, level, children, bandwidth)
            bandwidth *= self.arity / self.oversubscription

    def _add_level(
        self, network: TopologyBuilder, level: int, children: list[NodeId], bandwidth: Fraction
    ) -> list[NodeId]:
        switches: list[NodeId] = []
        for number, first in enumerate(range(0, len(children), self.arity)):
            switches.append(network.add_switch(f"level{level}/switch{number}"))
            for child in children[first : first + self.arity]:
                network.add_duplex(child, switches[-1], bandwidth)
        return switches
