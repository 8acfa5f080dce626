"""NVIDIA DGX B300: eight GPUs on an NVSwitch, one 800 Gb/s NIC per GPU; NVLinks and latencies of the DGX B200.

A ConnectX-8 NIC at 800 Gb/s carries 100 GB/s each way. The NVSwitch can multicast and aggregate (NVLink SHARP);
`nvls=true` uses this.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.dgx_b200 import B200, DgxB200
from forestcoll.topology.registry import topology_builder

B300 = replace(B200, name="b300")


@topology_builder(
    "dgx-b300",
    summary="NVIDIA DGX B300: 8 GPUs on an NVSwitch, an 800 Gb/s NIC for each GPU",
    source="docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300",
)
@dataclass(frozen=True)
class DgxB300(DgxB200):
    """Boxes of DGX B300."""

    nic_bandwidth: Fraction = link_bandwidth(100, "GB/s each way of a NIC")
