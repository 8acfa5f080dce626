"""The fields of `GpuModel`, such as the latencies of links and NICs; the values stand in the file of each machine.

`topology/gpus.py` lists the GPUs of all machines.

**Sources.** The values of NVIDIA's GPUs are those of NCCL (June 2026, and the same in 2.28), which has one value for
all GPUs of a compute capability. In `src/graph/tuning.cc`, `perChMaxTreeBws` (protocol Simple, one box) is the
bandwidth of a channel, which is one thread block; `hwLatencies` are the latencies of rings; `nvlsEfficiency` is that of
NVLS. In `src/graph/topo.h`, `SM80_NVLINK_BW`, `SM90_NVLINK_BW` and `SM100_NVLINK_BW` are the bandwidths of a link;
`MAXCHANNELS` is in `src/include/device.h`.

The values of AMD's GPUs are those of RCCL in the same files. `hwLat` of the tuning models 4 (MI250), 5 and 6 are the
latencies: of rings in a box and, between boxes, of trees, because the entries of rings there (209 and 320 us) are no
latencies of one send. `MI200_XGMI_WIDTH`, `GFX94X_XGMI_WIDTH` and `GFX95X_XGMI_WIDTH` are the bandwidths of a link.
RCCL has NVIDIA's numbers for the bandwidth of a channel, so that of AMD's GPUs is unknown, and blocks have no limit.

Processors are those of the specifications of the manufacturers.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuModel:
    """A kind of GPU in programs.

    Attributes:
        name: the name, which names of networks contain.
        processors: the number of streaming multiprocessors, or compute units, of a GPU; a program has at most as many
            blocks, because all must run at once.
        channels: the most channels that NCCL or RCCL use; each is one block.
        link_gbps: the bandwidth each way that NCCL or RCCL count for one NVLink or Infinity Fabric link, in GB/s.
        block_gbps: the most that one thread block moves, in GB/s; None if no source states it.
        ll_us: the latency of a send within a box with the protocol LL, in microseconds.
        link_us: the latency of a send within a box with the protocol Simple, in microseconds.
        network_us: the latency of a send between boxes with the protocol Simple, in microseconds.
        nvls_efficiency: the part of the bandwidth that sums in the switches of a box reach (NVLink SHARP); None if
            switches cannot multicast and add up.

    Example:
        >>> from forestcoll.topology.machines.dgx_h100 import H100
        >>> H100.name, H100.block_gbps, H100.nvls_efficiency
        ('h100', 38.7, 0.85)
    """

    name: str
    processors: int
    channels: int
    link_gbps: float
    block_gbps: float | None
    ll_us: float
    link_us: float
    network_us: float
    nvls_efficiency: float | None
