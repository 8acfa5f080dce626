"""Code that rail networks share: boxes with a scale-up switch, and GPU i of every box on rail switch i."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size


@dataclass(frozen=True)
class Rails(Recipe):
    """Boxes joined only by rails."""

    boxes: int = integer(4, "boxes", minimum=2, is_size=True)
    gpus: int = integer(8, "GPUs of each box, and number of rails", minimum=2, is_size=True)
    scale_up_bandwidth: Fraction = link_bandwidth(1, "between a GPU and its box's switch, each way")
    nic_bandwidth: Fraction = link_bandwidth(1, "between a GPU and its rail switch, each way")

    def size(self) -> Size:
        compute = self.boxes * self.gpus
        return Size(compute, 4 * compute)

    def fill(self, network: TopologyBuilder) -> None:
        for box in range(self.boxes):
            for gpu in range(self.gpus):
                network.add_compute(f"b{box}/gpu{gpu}", box=box)
        for rail in self.rails():
            network.add_switch(rail)
        for box in range(self.boxes):
            switch = network.add_switch(f"b{box}/switch", box=box)
            for gpu, rail in enumerate(self.rails()):
                network.add_duplex(f"b{box}/gpu{gpu}", switch, self.scale_up_bandwidth)
                network.add_duplex(f"b{box}/gpu{gpu}", rail, self.nic_bandwidth)

    def rails(self) -> list[str]:
        """Return the ids of the rail switches."""
        return [f"rail{gpu}" for gpu in range(self.gpus)]
