"""The rail-optimised network: GPU i of every box on rail switch i, and the rails joined by a spine.

The link of a rail switch to the spine has the total bandwidth of the links to its GPUs, divided by `oversubscription`.
As in `fat-tree`, one switch represents all switches of the spine.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import positive
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._rails import Rails
from forestcoll.topology.registry import Size, topology_builder


@topology_builder(
    "rail",
    summary="rail-optimised network: boxes with a scale-up switch, a switch for each rail, a spine",
    source="unit bandwidth; W. Wang et al., Rail-only (arXiv:2307.12169), which describes both",
)
@dataclass(frozen=True)
class Rail(Rails):
    """Boxes joined by rails, and rails joined by a spine."""

    oversubscription: Fraction = positive(1, "bandwidth down divided by bandwidth up, of each rail switch")

    def size(self) -> Size:
        rails = super().size()
        return Size(rails.compute, rails.links + 2 * self.gpus)

    def fill(self, network: TopologyBuilder) -> None:
        super().fill(network)
        network.add_switch("spine")
        for rail in self.rails():
            network.add_duplex(rail, "spine", self.boxes * self.nic_bandwidth / self.oversubscription)
