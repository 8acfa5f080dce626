"""AMD MI325X: eight fully connected GPUs, a 400 Gb/s NIC for each; all links and latencies of the MI300X.

It differs from the MI300X in its memory only.
"""

from dataclasses import dataclass, replace

from forestcoll.topology.machines.mi300x import MI300X, Mi300x
from forestcoll.topology.registry import topology_builder

MI325X = replace(MI300X, name="mi325x")


@topology_builder(
    "mi325x",
    summary="AMD MI325X: 8 fully connected GPUs, a 400 Gb/s network between boxes",
    source="rocm.docs.amd.com, MI325X system; the 400 Gb/s NIC is what platforms usually have",
)
@dataclass(frozen=True)
class Mi325x(Mi300x):
    """Boxes of MI325X."""
