"""The list of the GPUs that the files in `machines/` state, and which of them a network has.

A GPU is recognised by its name in the name of the network, as builders write it (`dgx-a100:boxes=2`).
"""

from collections.abc import Iterator
from types import MappingProxyType

from forestcoll.topology.machines._gpu import GpuModel
from forestcoll.topology.machines.dgx_a100 import A100
from forestcoll.topology.machines.dgx_b200 import B200
from forestcoll.topology.machines.dgx_b300 import B300
from forestcoll.topology.machines.dgx_h100 import H100
from forestcoll.topology.machines.dgx_h200 import H200
from forestcoll.topology.machines.gb200_nvl72 import GB200
from forestcoll.topology.machines.gb300_nvl72 import GB300
from forestcoll.topology.machines.hgx_h20 import H20
from forestcoll.topology.machines.mi250 import MI250
from forestcoll.topology.machines.mi300x import MI300X
from forestcoll.topology.machines.mi325x import MI325X
from forestcoll.topology.machines.mi355x import MI355X
from forestcoll.topology.model import Topology

_LIST = (GB300, GB200, B300, B200, H200, H100, H20, A100, MI355X, MI325X, MI300X, MI250)

GPUS = MappingProxyType({each.name: each for each in _LIST})
"""All GPUs by name; a name that contains another one comes first."""

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


def gpu_of(topology: Topology) -> GpuModel | None:
    """Return the GPU whose name the name of a network contains, or None if it contains none.

    Example:
        >>> from forestcoll import load_topology
        >>> gpu = gpu_of(load_topology("dgx-h100:boxes=2"))
        >>> gpu.name, gpu.processors
        ('h100', 132)
    """
    return next((each for each in _LIST if each.name in topology.name.lower()), None)


def table() -> str:
    """Return all GPUs as CSV, as docs/tables/gpus.csv has them.

    Example:
        >>> print(table().splitlines()[5])
        h200,132,64,20.6,38.7,0.6 us,3.4 us,14 us,0.85
    """
    return "".join(f"{','.join(row)}\n" for row in (_COLUMNS, *map(_cells, _LIST)))


def _cells(gpu: GpuModel) -> Iterator[str]:
    yield gpu.name
    yield from (str(gpu.processors), str(gpu.channels), f"{gpu.link_gbps:g}")
    yield "unknown" if gpu.block_gbps is None else f"{gpu.block_gbps:g}"
    yield from (f"{each:g} us" for each in (gpu.ll_us, gpu.link_us, gpu.network_us))
    yield "no" if gpu.nvls_efficiency is None else f"{gpu.nvls_efficiency:g}"
