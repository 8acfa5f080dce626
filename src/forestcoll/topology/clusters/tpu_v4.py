"""Google TPU v4: slices of a torus in three dimensions, six links of 50 GB/s each way to a chip.

Google's page on v4 gives no figure for a link; its paper (ISCA 2023) gives 50 GB/s.
The slice has wrap-around links if all three dimensions are multiples of 4; `twisted=true` twists them.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import flag, link_bandwidth
from forestcoll.topology.clusters._tpu import LINK_SPEED, TWISTED, CubeSlice
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "tpu-v4",
    summary="Google TPU v4: a slice of the torus, wrap-around in whole cubes of 4 x 4 x 4, may be twisted",
    source="N. Jouppi et al., TPU v4 (ISCA 2023); docs.cloud.google.com/tpu/docs/v4",
)
@dataclass(frozen=True)
class TpuV4(CubeSlice):
    """A slice of TPU v4. Chips are numbered from 0; the last dimension changes fastest."""

    bandwidth: Fraction = link_bandwidth(50, LINK_SPEED)
    twisted: bool = flag(TWISTED)
