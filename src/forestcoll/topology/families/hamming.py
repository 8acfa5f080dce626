"""The Hamming graph H(dim, base): nodes are words of `dim` digits in `base`; they are joined if one digit differs."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import MAX_DIMENSIONS, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs
from forestcoll.topology.registry import Recipe, Size, topology_builder


@topology_builder(
    "hamming",
    summary="Hamming graph H(dim, base): base^dim nodes, also known as HyperX",
    source="unit bandwidth",
)
@dataclass(frozen=True)
class Hamming(Recipe):
    """A Hamming graph of base^dim nodes and degree dim * (base - 1); base 2: hypercube, dim 1: complete graph."""

    dim: int = integer(2, "digits", maximum=MAX_DIMENSIONS, is_size=True)
    base: int = integer(4, "values of a digit", minimum=2, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def size(self) -> Size:
        nodes = self.base**self.dim
        return Size(nodes, nodes * self.dim * (self.base - 1))

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.base**self.dim)
        add_pairs(network, self._pairs(), self.bandwidth)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for stride in (self.base**place for place in range(self.dim)):
            for node in range(self.base**self.dim):
                digit = node // stride % self.base
                for more in range(1, self.base - digit):
                    yield node, node + more * stride
