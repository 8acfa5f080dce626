"""The costs with which programs are compared: the defaults, given ones, or those of a known machine.

The tables of NCCL and RCCL have one latency for a send in a box and one for a send between boxes
(`topology/gpus.py`). They do not divide it into latency and overhead. So the overhead is the default of `Costs`,
and the rest is the latency.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.programs.model import Protocol
from forestcoll.simulation import Costs
from forestcoll.topology import Topology
from forestcoll.topology.gpus import GPUS, gpu_of
from forestcoll.topology.graph.boxes import box_numbers

MACHINE = "machine"
"""The name of the costs of the machine, instead of given ones."""


@dataclass(frozen=True)
class ProgramCosts:
    """The costs with which programs are compared.

    Attributes:
        source: `default`, `given`, or the machine, such as `machine a100`.
        protocols: the parameters of each protocol that programs may use.
        network_us: what the latency of a send between boxes exceeds `alpha_us` by, in microseconds.

    Example:
        >>> from forestcoll import tune
        >>> costs = tune("ring:nodes=3", sizes=[2**20]).costs
        >>> costs.source, [protocol.value for protocol in costs.protocols]
        ('default', ['Simple'])
    """

    source: str
    protocols: Mapping[Protocol, Costs]
    network_us: float = 0.0

    def network(self, topology: Topology) -> Topology:
        """Return the network with the latency between boxes on links that leave boxes, unless they state a latency."""
        if not self.network_us:
            return topology
        boxes, added = box_numbers(topology), Fraction(self.network_us)
        links = (
            replace(link, latency_us=added)
            if link.latency_us is None and link.source in boxes and boxes[link.source] != boxes.get(link.target)
            else link
            for link in topology.links
        )
        return replace(topology, links=tuple(links))

    def document(self) -> dict[str, object]:
        """Return the JSON of the costs."""
        protocols = {protocol.value: costs.document() for protocol, costs in self.protocols.items()}
        return {"source": self.source, "network_us": self.network_us, "protocols": protocols}


CostsLike: TypeAlias = Costs | str | Mapping[str, Costs | str] | None
"""The costs of the protocol Simple, or those of several protocols by their names."""


def program_costs(topology: Topology, costs: CostsLike) -> ProgramCosts:
    """Return the costs of programs on a network.

    Args:
        topology: the network.
        costs: the costs of the protocol Simple; `"machine"` for those of the machine, None for the default. Or the
            costs of `Simple`, `LL` and `LL128` by name.

    Raises:
        InputError: the machine is not known, or there is no such protocol.
    """
    named: Mapping[str, Any] = costs if isinstance(costs, Mapping) else {Protocol.SIMPLE.value: costs}
    found = _simple_costs(topology, named.get(Protocol.SIMPLE.value))
    others = {}
    for name, own in named.items():
        if name not in list(Protocol):
            raise InputError(f"costs: there is no protocol {shown(name)}; use Simple, LL or LL128")
        if name != Protocol.SIMPLE.value:
            others[Protocol(name)] = own
    return replace(found, protocols={**found.protocols, **others})


def _simple_costs(topology: Topology, costs: Costs | str | None) -> ProgramCosts:
    if costs is None or isinstance(costs, Costs):
        return ProgramCosts("default" if costs is None else "given", {Protocol.SIMPLE: costs or Costs()})
    if costs != MACHINE:
        raise InputError(f'costs: {shown(costs)} is no name of costs; use "{MACHINE}" or a value of Costs')
    machine = gpu_of(topology)
    if machine is None:
        known = ", ".join(GPUS)
        raise InputError(f"{topology.name}: the name contains no known machine ({known}); give a file of costs")
    plain = Costs()
    own = replace(plain, alpha_us=machine.link_us - plain.overhead_us, block_gbps=machine.block_gbps)
    return ProgramCosts(f"{MACHINE} {machine.name}", {Protocol.SIMPLE: own}, machine.network_us - machine.link_us)
