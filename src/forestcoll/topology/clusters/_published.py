"""What published systems share: a machine as the box, and the sizes of leaf switches and pods."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.clusters.joining.box import box_of_machine
from forestcoll.topology.clusters.joining.cluster import Cluster, ClusterRecipe
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.clusters.joining.nics import Nics
from forestcoll.topology.families._direct import line_pairs
from forestcoll.topology.registry import Recipe, Size


@dataclass(frozen=True)
class PublishedCluster(ClusterRecipe):
    """Boxes of one machine on a published fabric. The last leaf switches and the last pod may be partly used."""

    boxes: int = integer(2, "boxes", is_size=True)
    nic_bandwidth: Fraction = link_bandwidth(50, "GB/s each way of a NIC, over all planes")

    @abstractmethod
    def machine(self) -> str:
        """Return the machine that is the box, as for `box_of_machine`."""

    @abstractmethod
    def fabric(self) -> Fabric:
        """Return the fabric that joins the boxes."""

    def cluster(self) -> Cluster:
        box, fabric = box_of_machine(self.machine()), self.fabric()
        nics = Nics(box, fabric.nics, self.nic_bandwidth, None, fabric.planes)
        return Cluster.of(box, fabric, nics=nics)


@dataclass(frozen=True)
class ChipGrids(Recipe):
    """Boxes that are grids of chips, which a switch joins over a NIC of each chip; a system sets the numbers.

    Lines of each dimension close to rings. A line of two chips has one link.
    """

    boxes: int
    nic_bandwidth: Fraction

    @abstractmethod
    def grid(self) -> tuple[tuple[int, Fraction], ...]:
        """Return the size of each dimension of a box and the bandwidth of its links; the last changes fastest."""

    def _pairs(self) -> list[tuple[int, int, Fraction]]:
        """Return each pair of neighbouring chips of a box once, with the bandwidth of its link."""
        sizes = [size for size, _ in self.grid()]
        return [
            (*pair, bandwidth)
            for dimension, (_, bandwidth) in enumerate(self.grid())
            for pair in line_pairs(sizes, dimension, wrap=True)
        ]

    def _chips(self) -> int:
        return prod(size for size, _ in self.grid())

    def size(self) -> Size:
        outside = self._chips() if self.boxes > 1 else 0
        return Size(self.boxes * self._chips(), 2 * self.boxes * (len(self._pairs()) + outside))

    def fill(self, network: TopologyBuilder) -> None:
        for box in range(self.boxes):
            for chip in range(self._chips()):
                network.add_compute(f"b{box}/chip{chip}", box=box)
        for box in range(self.boxes):
            for one, other, bandwidth in self._pairs():
                network.add_duplex(f"b{box}/chip{one}", f"b{box}/chip{other}", bandwidth)
        if self.boxes > 1:
            network.add_switch("efa")
            for box in range(self.boxes):
                for chip in range(self._chips()):
                    network.add_duplex(f"b{box}/chip{chip}", "efa", self.nic_bandwidth)
