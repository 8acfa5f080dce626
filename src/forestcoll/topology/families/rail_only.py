"""The rail-only network: GPU i of every box on rail switch i, and nothing that joins the rails but the boxes."""

from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._rails import add_rails
from forestcoll.topology.parameters import integer, positive
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "rail-only",
    summary="rail-only network: boxes with a scale-up switch, a switch for each rail, no spine",
    source="a unit by definition; W. Wang et al., Rail-only (arXiv:2307.12169)",
)
@dataclass(frozen=True)
class RailOnly(Recipe):
    """Boxes joined by rails."""

    boxes: int = field(default=4, metadata=integer("boxes", minimum=2, is_size=True))
    gpus: int = field(default=8, metadata=integer("GPUs of each box, and rails", minimum=2, is_size=True))
    scale_up_bandwidth: Fraction = field(
        default=Fraction(1), metadata=positive("between a GPU and its box's switch, each way")
    )
    rail_bandwidth: Fraction = field(
        default=Fraction(1), metadata=positive("between a GPU and its rail switch, each way")
    )

    def size(self) -> Size:
        """As `Recipe.size`."""
        compute = self.boxes * self.gpus
        return Size(compute, 4 * compute)

    def fill(self, network: TopologyBuilder) -> None:
        """As `Recipe.fill`."""
        add_rails(network, self.boxes, self.gpus, self.scale_up_bandwidth, self.rail_bandwidth)
