"""What thread blocks of known machines reach with MSCCL, fitted to measured programs.

`measured_blocks.csv` has one line for each machine and protocol:

| column | content |
| --- | --- |
| machine | a name of `topology/gpus.py` |
| protocol | `Simple`, `LL` or `LL128` |
| block_gbps … launch_us | the parameters of the cost model of this name (`Costs`) |
| slices | the parts of a message that move one after the other; with LL and LL128, data arrives in small lines |
| source | where the values are from |

`benchmarks/measured_programs.py` compares programs of the same form with the measurements, and fits the values.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from forestcoll.programs.model import Protocol
from forestcoll.simulation.costs import Costs
from forestcoll.topology import Topology
from forestcoll.topology.gpus import gpu_of

_COSTS = (
    "block_gbps",
    "receive_gbps",
    "copy_gbps",
    "efficiency",
    "nic_efficiency",
    "alpha_us",
    "overhead_us",
    "launch_us",
)


@dataclass(frozen=True, slots=True)
class MeasuredBlocks:
    """What thread blocks of a machine reach with a protocol of MSCCL.

    Attributes:
        machine: the machine, such as `mi300x`.
        protocol: the protocol.
        costs: the parameters of the cost model.
        slices: the parts of a message that move one after the other.
        source: where the values are from.
    """

    machine: str
    protocol: Protocol
    costs: Costs
    slices: int
    source: str


def measured_blocks(topology: Topology, protocol: Protocol) -> MeasuredBlocks | None:
    """Return what thread blocks of the machine of a network reach; None if no measurement is known.

    Example:
        >>> from forestcoll import load_topology
        >>> found = measured_blocks(load_topology("mi300x:boxes=1"), Protocol.LL)
        >>> found.machine, found.costs.block_gbps < 4
        ('mi300x', True)
        >>> measured_blocks(load_topology("dgx-a100:boxes=1"), Protocol.LL) is None
        True
    """
    gpu = gpu_of(topology)
    return None if gpu is None else _rows().get((gpu.name, protocol))


@cache
def _rows() -> dict[tuple[str, Protocol], MeasuredBlocks]:
    text = files("forestcoll.simulation.program").joinpath("measured_blocks.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        costs = Costs(**{name: float(row[name]) for name in _COSTS})
        key = row["machine"], Protocol(row["protocol"])
        found[key] = MeasuredBlocks(*key, costs, int(row["slices"]), row["source"])
    return found
