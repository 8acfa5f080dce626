"""Google TPU7x (Ironwood): slices of a torus in three dimensions, six links of 100 GB/s each way to a chip.

Google's page gives 1,200 GB/s to a chip in both directions together, and 9,216 chips to a pod. The slice has
wrap-around links if all three dimensions are multiples of 4. Two dies of a chip, which frameworks show as two devices,
are one node here.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._tpu import LINK_SPEED, CubeSlice
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "tpu-7x",
    summary="Google TPU7x (Ironwood): a slice of the torus, wrap-around in whole cubes of 4 x 4 x 4",
    source="docs.cloud.google.com/tpu/docs/tpu7x",
)
@dataclass(frozen=True)
class Tpu7x(CubeSlice):
    """A slice of TPU7x. Chips are numbered from 0; the last dimension changes fastest."""

    bandwidth: Fraction = link_bandwidth(100, LINK_SPEED)
