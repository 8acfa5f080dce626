"""Google TPU v4: slices of a torus in three dimensions, six links of 50 GB/s each way to a chip.

Google's page on v4 gives no figure for a link; its paper (ISCA 2023) gives 50 GB/s.
The slice has wrap-around links if all three dimensions are multiples of 4.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._tpu import LINK_SPEED, TpuSlice
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "tpu-v4",
    summary="Google TPU v4: a slice of the torus, wrap-around in whole cubes of 4 x 4 x 4",
    source="N. Jouppi et al., TPU v4 (ISCA 2023); docs.cloud.google.com/tpu/docs/v4",
)
@dataclass(frozen=True)
class TpuV4(TpuSlice):
    """A slice of TPU v4. Chips are numbered from 0; the last dimension changes fastest."""

    bandwidth: Fraction = link_bandwidth(50, LINK_SPEED)
