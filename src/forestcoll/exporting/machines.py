"""What is known about machines that matters to programs: the bandwidth of one thread block, latencies, NVLS.

A machine is recognised by its name in the name of the network, as builders write it (`dgx-a100:boxes=2`).

**Sources.** The bandwidth of a block is the bandwidth of one channel in NCCL's cost model: `perChMaxTreeBws` (protocol
Simple, one box) of `src/graph/tuning.cc`, NCCL 2.28; each channel is one thread block. The latencies are `hwLatencies`
of the same file: the protocol Simple of rings, over NVLink and over the network. NCCL has the same values for all GPUs
of one compute capability. For AMD GPUs no source states the bandwidth of one block, and RCCL uses latencies of its own;
they are unknown here, so blocks of these machines have no limit. Processors are those of the data sheets.
"""

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
        block_gbps: the most that one thread block moves, in GB/s; None if no source states it.
        link_us: the latency of a send within a box, in microseconds; None if no source states it.
        network_us: the latency of a send between boxes, in microseconds; None if no source states it.
        nvls: whether the switches of a box can multicast and add up data for a GPU (NVLink SHARP).

    Example:
        >>> from forestcoll import load_topology
        >>> machine = machine_of(load_topology("dgx-h100:boxes=2"))
        >>> machine.name, machine.block_gbps, machine.nvls
        ('h100', 38.7, True)
    """

    name: str
    processors: int
    block_gbps: float | None
    link_us: float | None
    network_us: float | None
    nvls: bool


_LIST = (
    Machine("gb200", 148, 70.0, 3.4, 14.0, nvls=True),
    Machine("b300", 148, 70.0, 3.4, 14.0, nvls=True),
    Machine("b200", 148, 70.0, 3.4, 14.0, nvls=True),
    Machine("h200", 132, 38.7, 3.4, 14.0, nvls=True),
    Machine("h100", 132, 38.7, 3.4, 14.0, nvls=True),
    Machine("a100", 108, 24.0, 3.4, 14.0, nvls=False),
    Machine("mi355x", 256, None, None, None, nvls=False),
    Machine("mi300x", 304, None, None, None, nvls=False),
    Machine("mi250", 104, None, None, None, nvls=False),
)

MACHINES = MappingProxyType({each.name: each for each in _LIST})
"""All machines by name; a name that contains another one comes first."""


def machine_of(topology: Topology) -> Machine | None:
    """Return the machine that the name of a network contains, or None if it contains none."""
    return next((each for each in _LIST if each.name in topology.name.lower()), None)
