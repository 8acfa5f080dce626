"""The rail-optimised network: GPU i of every box on rail switch i, and the rails joined by a spine.

A rail switch's link to the spine carries what its GPUs' links carry together, divided by `oversubscription`; as in
`fat-tree`, one switch stands for all the switches of the spine.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._rails import add_rails
from forestcoll.topology.parameters import integer, positive
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "rail",
    summary="rail-optimised network: boxes with a scale-up switch, a switch for each rail, a spine",
    source="a unit by definition; W. Wang et al., Rail-only (arXiv:2307.12169), which describes both",
)
@dataclass(frozen=True)
class Rail(Recipe):
    """Boxes joined by rails, rails joined by a spine."""

    boxes: int = field(default=4, metadata=integer("boxes", minimum=2, is_size=True))
    gpus: int = field(default=8, metadata=integer("GPUs of each box, and rails", minimum=2, is_size=True))
    scale_up_bandwidth: Fraction = field(
        default=Fraction(1), metadata=positive("between a GPU and its box's switch, each way")
    )
    rail_bandwidth: Fraction = field(
        default=Fraction(1), metadata=positive("between a GPU and its rail switch, each way")
    )
    oversubscription: Fraction = field(
        default=Fraction(1), metadata=positive("bandwidth down divided by bandwidth up, of each rail switch")
    )

    def size(self) -> Size:
        """As `Recipe.size`."""
        compute = self.boxes * self.gpus
        return Size(compute, 4 * compute + 2 * self.gpus)

    def fill(self, network: TopologyBuilder) -> None:
        """As `Recipe.fill`."""
        rails = add_rails(network, self.boxes, self.gpus, self.scale_up_bandwidth, self.rail_bandwidth)
        network.add_switch("spine")
        for rail in rails:
            network.add_duplex(rail, "spine", self.boxes * self.rail_bandwidth / self.oversubscription)
