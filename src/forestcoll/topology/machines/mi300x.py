"""AMD MI300X: eight fully connected GPUs, a 400 Gb/s NIC for each; bandwidths and latencies.

A GPU has seven links to the others, each with 16 lanes at 32 Gb/s: 64 GB/s each way, which is the 128 GB/s in both
directions together that AMD publishes. Platforms usually have a 400 Gb/s NIC for each GPU, 50 GB/s each way; set
`nic_bandwidth` for others.
"""

from dataclasses import dataclass

from forestcoll.topology.machines._boxes import FullyConnectedBoxes
from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.registry import topology_builder

MI300X = GpuModel(
    "mi300x",
    processors=304,
    channels=128,
    link_gbps=48.0,
    block_gbps=None,
    ll_us=0.8,
    link_us=2.1,
    network_us=25.0,
    nvls_efficiency=None,
)


@topology_builder(
    "mi300x",
    summary="AMD MI300X: 8 fully connected GPUs, a 400 Gb/s network between boxes",
    source="wheelersnetwork.com/2024/01 (links as AMD announced them); the 400 Gb/s NIC is what platforms usually have",
)
@dataclass(frozen=True)
class Mi300x(FullyConnectedBoxes):
    """Boxes of MI300X."""
