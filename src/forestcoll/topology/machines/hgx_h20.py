"""NVIDIA HGX H20: eight GPUs on an NVSwitch, one 400 Gb/s NIC per GPU; all links and latencies of the DGX H100.

An H20 has the eighteen NVLinks of an H100, 450 GB/s each way, and fewer processors. NVIDIA does not prescribe NICs for
the board. One of 400 Gb/s to a GPU is assumed here; hosts with 16 NICs are known, such as
`cluster:box=hgx-h20,nics=16,nic_bandwidth=25`.
"""

from dataclasses import dataclass, replace

from forestcoll.topology.machines.dgx_h100 import H100, DgxH100
from forestcoll.topology.registry import topology_builder

H20 = replace(H100, name="h20", processors=78)


@topology_builder(
    "hgx-h20",
    summary="NVIDIA HGX H20: 8 GPUs on an NVSwitch, a 400 Gb/s NIC for each GPU",
    source="github.com/NVIDIA/nccl, issues 933 and 1244 (NVLinks and NICs that NCCL finds)",
)
@dataclass(frozen=True)
class HgxH20(DgxH100):
    """Boxes with an HGX H20 board."""
