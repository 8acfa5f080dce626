"""Google TPU v5e: slices of a flat pod of 16 x 16 chips, four links of 50 GB/s each way to a chip.

Google's page gives 400 GB/s to a chip in both directions together, and 1.6 TB/s across the middle of a pod. Only
lines of 16 chips close to rings, so a pod is a torus, and smaller slices are open in one or both dimensions.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.clusters._tpu import LINK_SPEED, FlatSlice
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "tpu-v5e",
    summary="Google TPU v5e: a slice of a pod of 16 x 16 chips, wrap-around in dimensions of 16",
    source="docs.cloud.google.com/tpu/docs/v5e; jax-ml.github.io/scaling-book/tpus (wrap-around)",
)
@dataclass(frozen=True)
class TpuV5e(FlatSlice):
    """A slice of TPU v5e. Chips are numbered from 0; the last dimension changes fastest."""

    bandwidth: Fraction = link_bandwidth(50, LINK_SPEED)
