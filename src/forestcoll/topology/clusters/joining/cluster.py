"""A cluster: copies of a box, a fabric that joins their NICs, and links between neighbours of a torus."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.clusters.joining.box import Box
from forestcoll.topology.clusters.joining.fabric import Fabric
from forestcoll.topology.clusters.joining.nics import Nics
from forestcoll.topology.model import Node
from forestcoll.topology.registry import Recipe, Size


@dataclass(frozen=True)
class Torus:
    """Boxes in a grid: each GPU has a link to the GPU of the same number in each neighbouring box.

    Attributes:
        dims: the number of boxes along each dimension; the last one changes fastest.
        bandwidths: GB/s each way of a link, for each dimension.
        wrap: whether the lines of each dimension close to rings; a line of two boxes has one link in any case.
    """

    dims: tuple[int, ...]
    bandwidths: tuple[Fraction, ...]
    wrap: tuple[bool, ...]

    @cached_property
    def neighbours(self) -> list[tuple[int, int, Fraction]]:
        """Each pair of neighbouring boxes once, with the bandwidth of the links between their GPUs."""
        found = []
        stride = prod(self.dims)
        for size, bandwidth, wrap in zip(self.dims, self.bandwidths, self.wrap, strict=True):
            stride //= size
            for box in range(prod(self.dims)):
                place = box // stride % size
                if place + 1 < size:
                    found.append((box, box + stride, bandwidth))
                elif wrap and size > 2:
                    found.append((box, box - place * stride, bandwidth))
        return found


@dataclass(frozen=True)
class Cluster:
    """A cluster with all its numbers.

    Attributes:
        box: the box that is repeated.
        boxes: the number of boxes.
        nics: the NICs of each box; None if no switches join the boxes.
        fabric: the switches that join the NICs; None if there are none.
        torus: the links between neighbouring boxes; None if there are none.
    """

    box: Box
    boxes: int
    nics: Nics | None = None
    fabric: Fabric | None = None
    torus: Torus | None = None

    @staticmethod
    def of(box: Box, fabric: Fabric, *, nics: Nics | None = None, torus: Torus | None = None) -> "Cluster":
        """Return the cluster of `fabric.boxes` boxes; a single box has no NICs and no switches outside."""
        joined = nics if nics is not None else Nics(box, None, None, None, fabric.planes)
        if fabric.boxes == 1:
            return Cluster(box, 1, torus=torus)
        return Cluster(box, fabric.boxes, joined, fabric, torus)

    @property
    def problem(self) -> str | None:
        """What is wrong between the numbers, and how to fix it, or None."""
        if self.boxes * len(self.box.gpus) < 2:
            return "there are fewer than two GPUs; a collective needs two, so add boxes"
        if self.nics is not None and (problem := self.nics.problem) is not None:
            return problem
        return None if self.fabric is None else self.fabric.problem

    @property
    def size(self) -> Size:
        """The size of the network."""
        gpus = len(self.box.gpus)
        inside = len(self.box.links) + (self.nics.links if self.nics is not None else 0)
        outside = self.fabric.links if self.fabric is not None else 0
        torus = 2 * gpus * len(self.torus.neighbours) if self.torus is not None else 0
        return Size(self.boxes * gpus, self.boxes * inside + outside + torus)

    def fill(self, network: TopologyBuilder) -> None:
        """Add the nodes and links to `network`, which is empty: GPUs, the rest of the boxes, switches outside."""
        gpus = [node for node in self.box.nodes if node.is_compute]
        others = [node for node in self.box.nodes if not node.is_compute]
        self._add_nodes(network, gpus)
        self._add_nodes(network, others)
        for box in range(self.boxes):
            for link in self.box.links:
                source, target = (f"b{box}/{self.box.nodes[end].id}" for end in (link.source, link.target))
                network.add_link(source, target, link.bandwidth, latency_us=link.latency_us)
        if self.torus is not None:
            for one, other, bandwidth in self.torus.neighbours:
                for gpu in gpus:
                    network.add_duplex(f"b{one}/{gpu.id}", f"b{other}/{gpu.id}", bandwidth)
        if self.nics is not None and self.fabric is not None:
            nics = [self.nics.add(network, box) for box in range(self.boxes)]
            self.fabric.add(network, nics, [self.nics.bandwidth_of(nic) for nic in range(self.nics.count)])

    def _add_nodes(self, network: TopologyBuilder, nodes: Sequence[Node]) -> None:
        for box in range(self.boxes):
            for node in nodes:
                attributes: dict[str, Any] = {**node.attributes, "box": box}
                if "nic" in attributes:
                    attributes["nic"] = f"b{box}/{attributes['nic']}"
                if node.is_compute:
                    network.add_compute(f"b{box}/{node.id}", **attributes)
                else:
                    attributes |= {"multicast": node.multicast, "aggregation": node.aggregation}
                    network.add_switch(f"b{box}/{node.id}", **attributes)


@dataclass(frozen=True)
class ClusterRecipe(Recipe):
    """A recipe whose network is a cluster."""

    @abstractmethod
    def cluster(self) -> Cluster:
        """Return the cluster that the parameters describe."""

    @cached_property
    def _cluster(self) -> Cluster:
        return self.cluster()

    def problem(self) -> str | None:
        return self._cluster.problem

    def size(self) -> Size:
        return self._cluster.size

    def fill(self, network: TopologyBuilder) -> None:
        self._cluster.fill(network)
