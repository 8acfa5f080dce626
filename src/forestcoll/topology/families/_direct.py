"""Code that families of direct networks share: compute nodes numbered from 0, grids of them, and lists of arcs."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import prod

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size


class ArcRecipe(Recipe):
    """A direct network given by its arcs: one-way links between compute nodes numbered from 0.

    Arcs may be parallel, and their bandwidths add up. Arcs may be loops. A loop is an unused port: the file format has
    no loops, so `fill` leaves them out, and the node has less bandwidth than the others.
    """

    bandwidth: Fraction
    """The bandwidth of each arc."""

    @abstractmethod
    def order(self) -> int:
        """Return the number of nodes."""

    @abstractmethod
    def arcs(self) -> Iterator[tuple[int, int]]:
        """Yield each arc as (source, target), including parallel arcs and loops."""

    @abstractmethod
    def degree_of_arcs(self) -> int:
        """Return the number of arcs that leave each node, which is also the number that enter it, including loops."""

    def loops(self) -> int:
        """Return the number of arcs that are loops."""
        return 0

    def size(self) -> Size:
        return Size(self.order(), self.order() * self.degree_of_arcs() - self.loops())

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.order())
        for source, target in self.arcs():
            if source != target:
                network.add_link(source, target, self.bandwidth)


class GridRecipe(Recipe):
    """A grid of compute nodes with full-duplex links of `bandwidth`. A family declares `dims` or overrides `sizes`."""

    dims: tuple[int, ...]
    bandwidth: Fraction

    def sizes(self) -> tuple[int, ...]:
        """Return the size of each dimension."""
        return self.dims

    def wraps(self) -> bool:
        """Return whether the lines of the grid close to rings."""
        return False

    def size(self) -> Size:
        return grid_size(self.sizes(), wrap=self.wraps())

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, self.size().compute)
        add_pairs(network, grid_pairs(self.sizes(), wrap=self.wraps()), self.bandwidth)


def add_nodes(network: TopologyBuilder, count: int) -> None:
    """Add compute nodes with the ids 0 to `count` - 1."""
    for node in range(count):
        network.add_compute(node)


def add_pairs(network: TopologyBuilder, pairs: Iterable[tuple[int, int]], bandwidth: Fraction) -> None:
    """Join each of `pairs` by a full-duplex link of `bandwidth`."""
    for one, other in pairs:
        network.add_duplex(one, other, bandwidth)


def grid_pairs(sizes: Sequence[int], *, wrap: bool) -> Iterator[tuple[int, int]]:
    """Yield each pair of neighbours in a grid once; nodes are numbered in row-major order, the last dimension fastest.

    With `wrap`, each line of the grid closes to a ring; a line of two nodes still has only one link.
    """
    for dimension in reversed(range(len(sizes))):
        yield from line_pairs(sizes, dimension, wrap=wrap)


def line_pairs(sizes: Sequence[int], dimension: int, *, wrap: bool) -> Iterator[tuple[int, int]]:
    """Yield the pairs of `grid_pairs` along one dimension."""
    size, stride = sizes[dimension], prod(sizes[dimension + 1 :])
    for node in range(prod(sizes)):
        place = node // stride % size
        if place + 1 < size:
            yield node, node + stride
        elif wrap and size > 2:
            yield node, node - place * stride


def grid_size(sizes: Sequence[int], *, wrap: bool) -> Size:
    """Return the size of a grid of full-duplex links."""
    total = prod(sizes)
    return Size(total, 2 * sum(total // size * (size if wrap and size > 2 else size - 1) for size in sizes))
