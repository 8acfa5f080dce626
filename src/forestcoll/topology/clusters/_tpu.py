"""What slices of TPU v4 and v5p share: a grid of chips in up to three dimensions, a torus in whole cubes.

Cubes of 4 x 4 x 4 chips are joined by optical switches. So the lines of a slice close to rings only if all three
dimensions are multiples of 4; a smaller slice is a mesh. Twisted tori are not built here.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import dimensions, link_bandwidth
from forestcoll.topology.families._direct import GridRecipe

_CUBE = 4

LINK_SPEED = "GB/s each way of a link"
"""What the parameter `bandwidth` is."""


@dataclass(frozen=True)
class TpuSlice(GridRecipe):
    """A slice of TPU chips. Each generation sets the default of the bandwidth."""

    dims: tuple[int, ...] = dimensions((4, 4, 4), "chips along each dimension", most=3)
    bandwidth: Fraction = link_bandwidth(50, LINK_SPEED)

    def wraps(self) -> bool:
        return len(self.dims) == 3 and all(size % _CUBE == 0 for size in self.dims)
