"""What slices of TPUs share: grids of chips whose lines close to rings, or stay open, and twisted tori.

**Cubes** (v4, v5p, TPU7x). Cubes of 4 x 4 x 4 chips are joined by optical switches. So the lines of a slice close to
rings only if all three dimensions are multiples of 4; a smaller slice is a mesh. A torus of k x k x 2k or k x 2k x 2k
may be *twisted*: where a line of k chips closes, it is shifted by k along each dimension of 2k chips. All links of a
twisted torus are equivalent, and an all-to-all is up to 1.75 times as fast as in the torus (960/11 instead of 50 GB/s
for 4 x 4 x 8 chips of v4). These are the crystal lattices FCC and BCC of
Camarero, Martinez and Beivide, Symmetric Interconnection Networks from Cubic Crystal Lattices (arXiv:1311.2019).

**Flat pods** (v5e, v6e). A pod is a torus of 16 x 16 chips. A line of a slice closes only if it has all 16 chips.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families._direct import add_nodes, add_pairs, line_pairs
from forestcoll.topology.registry import Recipe, Size

_CUBE, _POD = 4, 16

LINK_SPEED = "GB/s each way of a link"
"""What the parameter `bandwidth` is."""

TWISTED = "a twisted torus: closing links of the short dimensions also lead half way along the long ones"
"""What the parameter `twisted` is."""


@dataclass(frozen=True)
class TpuSlice(Recipe):
    """A slice of TPU chips. Each generation sets the defaults."""

    dims: tuple[int, ...]
    bandwidth: Fraction

    @abstractmethod
    def closes(self, size: int) -> bool:
        """Return whether lines of a dimension of this size close to rings."""

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each pair of neighbouring chips once."""
        for dimension in reversed(range(len(self.dims))):
            yield from line_pairs(self.dims, dimension, wrap=self.closes(self.dims[dimension]))

    def size(self) -> Size:
        return Size(prod(self.dims), 2 * sum(1 for _ in self.pairs()))

    def fill(self, network: TopologyBuilder) -> None:
        add_nodes(network, prod(self.dims))
        add_pairs(network, self.pairs(), self.bandwidth)


@dataclass(frozen=True)
class CubeSlice(TpuSlice):
    """A slice of cubes, or a part of one cube."""

    dims: tuple[int, ...] = dimensions((4, 4, 4), "chips along each dimension", most=3)
    bandwidth: Fraction = link_bandwidth(100, LINK_SPEED)
    twisted = False

    def problem(self) -> str | None:
        short = min(self.dims)
        fits = len(self.dims) == 3 and max(self.dims) == 2 * short and set(self.dims) == {short, 2 * short}
        if self.twisted and not (fits and self.closes(short)):
            return "only k x k x 2k and k x 2k x 2k chips can be twisted, with k a multiple of 4, such as dims=4x4x8"
        return None

    def closes(self, size: int) -> bool:
        del size
        return len(self.dims) == 3 and all(each % _CUBE == 0 for each in self.dims)

    def pairs(self) -> Iterator[tuple[int, int]]:
        for one, other in super().pairs():
            yield one, self._shifted(one, other) if self.twisted and other < one else other

    def _shifted(self, one: int, other: int) -> int:
        """Return the chip to which a link that closes a line from `one` to `other` leads in a twisted torus."""
        long, stride, shift = max(self.dims), 1, 0
        for size in reversed(self.dims):
            if size == long:
                place = other // stride % size
                if place != one // stride % size:
                    return other  # a long line closes without a shift
                shift += ((place + size // 2) % size - place) * stride
            stride *= size
        return other + shift


@dataclass(frozen=True)
class FlatSlice(TpuSlice):
    """A slice of a flat pod."""

    dims: tuple[int, ...] = dimensions((4, 4), "chips along each dimension, 16 at most", most=2)
    bandwidth: Fraction = link_bandwidth(100, LINK_SPEED)

    def problem(self) -> str | None:
        return f"a dimension has {max(self.dims)} chips; a pod has {_POD}" if max(self.dims) > _POD else None

    def closes(self, size: int) -> bool:
        return size == _POD
