"""AMD MI355X: eight fully connected GPUs, a 400 Gb/s NIC for each; bandwidths and latencies.

A GPU has seven links to the others, each with 16 lanes at 38.4 Gb/s: 76.8 GB/s each way, which is the 153.6 GB/s in
both directions together that AMD publishes. Platforms usually have a 400 Gb/s NIC for each GPU, 50 GB/s each way; set
`nic_bandwidth` for others.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.mi300x import MI300X, Mi300x
from forestcoll.topology.registry import topology_builder

MI355X = replace(MI300X, name="mi355x", processors=256)


@topology_builder(
    "mi355x",
    summary="AMD MI355X: 8 fully connected GPUs, a 400 Gb/s network between boxes",
    source="humeconsulting.co/amd-mi355x-strong-node-level-inference-but-not-yet-rack-scale (links); the 400 Gb/s NIC "
    "is what platforms usually have",
)
@dataclass(frozen=True)
class Mi355x(Mi300x):
    """Boxes of MI355X."""

    fabric_bandwidth: Fraction = link_bandwidth(
        Fraction(384, 5), "GB/s each way of the Infinity Fabric link between two GPUs"
    )
