"""What is known about machines that matters to programs: blocks, channels, the bandwidth of a block, latencies, NVLS.

A machine is recognised by its name in the name of the network, as builders write it (`dgx-a100:boxes=2`).

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

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

from forestcoll.topology import Topology


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of GPU in programs.

    Attributes:
        name: the name of the machine.
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
        >>> from forestcoll import load_topology
        >>> machine = machine_of(load_topology("dgx-h100:boxes=2"))
        >>> machine.name, machine.block_gbps, machine.nvls_efficiency
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


_LIST = (
    Machine("gb200", 148, 64, 40.1, 70.0, 0.6, 3.4, 14.0, 0.74),
    Machine("b300", 148, 64, 40.1, 70.0, 0.6, 3.4, 14.0, 0.74),
    Machine("b200", 148, 64, 40.1, 70.0, 0.6, 3.4, 14.0, 0.74),
    Machine("h200", 132, 64, 20.6, 38.7, 0.6, 3.4, 14.0, 0.85),
    Machine("h100", 132, 64, 20.6, 38.7, 0.6, 3.4, 14.0, 0.85),
    Machine("a100", 108, 64, 20.0, 24.0, 0.6, 3.4, 14.0, None),
    Machine("mi355x", 256, 128, 48.0, None, 0.8, 2.1, 25.0, None),
    Machine("mi300x", 304, 128, 48.0, None, 0.8, 2.1, 25.0, None),
    Machine("mi250", 104, 128, 36.0, None, 0.8, 3.6, 47.6, None),
)

MACHINES = MappingProxyType({each.name: each for each in _LIST})
"""All machines by name; a name that contains another one comes first."""

_COLUMNS = (
    "machine",
    "processors",
    "channels",
    "GB/s of a link",
    "GB/s of a block",
    "latency LL",
    "latency Simple",
    "between boxes",
    "NVLS",
)


def machine_of(topology: Topology) -> Machine | None:
    """Return the machine that the name of a network contains, or None if it contains none."""
    return next((each for each in _LIST if each.name in topology.name.lower()), None)


def table() -> str:
    """Return all machines as a table in Markdown, as docs/runtimes.md has it.

    Example:
        >>> print(table().splitlines()[5])
        | h200 | 132 | 64 | 20.6 | 38.7 | 0.6 us | 3.4 us | 14 us | 0.85 |
    """
    return "".join(f"| {' | '.join(row)} |\n" for row in (_COLUMNS, ("---",) * len(_COLUMNS), *map(_row, _LIST)))


def _row(machine: Machine) -> tuple[str, ...]:
    return tuple(_cells(machine))


def _cells(machine: Machine) -> Iterator[str]:
    yield machine.name
    yield from (str(machine.processors), str(machine.channels), f"{machine.link_gbps:g}")
    yield "unknown" if machine.block_gbps is None else f"{machine.block_gbps:g}"
    yield from (f"{each:g} us" for each in (machine.ll_us, machine.link_us, machine.network_us))
    yield "no" if machine.nvls_efficiency is None else f"{machine.nvls_efficiency:g}"
