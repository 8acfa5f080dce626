"""Google TPU v5p: slices of a torus in three dimensions, six links of 100 GB/s each way to a chip.

Google's page gives 1,200 GB/s to a chip in both directions together; its older pages give the same as 4,800 Gb/s.
The slice has wrap-around links if all three dimensions are multiples of 4; `twisted=true` twists them.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import flag, link_bandwidth
from forestcoll.topology.clusters._tpu import LINK_SPEED, TWISTED, CubeSlice
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "tpu-v5p",
    summary="Google TPU v5p: a slice of the torus, wrap-around in whole cubes of 4 x 4 x 4, may be twisted",
    source="docs.cloud.google.com/tpu/docs/v5p",
)
@dataclass(frozen=True)
class TpuV5p(CubeSlice):
    """A slice of TPU v5p. Chips are numbered from 0; the last dimension changes fastest."""

    bandwidth: Fraction = link_bandwidth(100, LINK_SPEED)
    twisted: bool = flag(TWISTED)
