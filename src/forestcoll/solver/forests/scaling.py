"""Conversion of exact bandwidths to integer capacities for the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

from forestcoll.base.errors import NoSolutionError, shown
from forestcoll.base.progress import Progress
from forestcoll.kernels import AnyProblem, Core, core_for, is_native
from forestcoll.topology import Topology
from forestcoll.topology.graph.node_ports import NODE_LIMITS
from forestcoll.topology.model import BOUNDED

_TINY = 5000
"""Compute nodes times links: up to this size, plain Python solves a network in about a second."""


@dataclass(frozen=True)
class ScaledTopology:
    """A topology with its bandwidths as integers without a common divisor.

    Attributes:
        topology: the network.
        capacities: the bandwidth of each link, in multiples of `unit`.
        unit: the bandwidth of capacity 1, in the unit of the topology.
        weights: the part of the data that each compute node has, in multiples of 1/`whole`.
        backwards: whether `topology` is the transpose of the given network.
    """

    topology: Topology
    capacities: tuple[int, ...]
    unit: Fraction
    weights: tuple[int, ...]
    backwards: bool = False

    @staticmethod
    def of(topology: Topology, weights: Sequence[int] | None = None, *, backwards: bool = False) -> "ScaledTopology":
        """Return `topology` with the greatest possible `unit`. Without `weights`, every compute node has weight 1."""
        numerators, denominator = topology.bandwidth_numerators
        divisor = gcd(*numerators)
        capacities = tuple(each // divisor for each in numerators)
        of_nodes = (1,) * len(topology.compute) if weights is None else tuple(weights)
        return ScaledTopology(topology, capacities, Fraction(divisor, denominator), of_nodes, backwards)

    @cached_property
    def whole(self) -> int:
        """The sum of all weights."""
        return sum(self.weights)

    @cached_property
    def total(self) -> int:
        """The sum of all capacities."""
        return sum(self.capacities)

    def whole_trees(self, scale: Fraction) -> tuple[int, ...]:
        """Return floor(scale * capacity) of each link."""
        whole = {capacity: capacity * scale.numerator // scale.denominator for capacity in set(self.capacities)}
        return tuple(map(whole.__getitem__, self.capacities))

    def remark_on_width(self, bound: int, progress: Progress) -> None:
        """Remark if numbers up to `bound` are too wide for the native core, unless the network is tiny."""
        size = len(self.topology.compute) * len(self.topology.links)
        if size > _TINY and not is_native(core_for(bound)):
            progress.remark(
                f"{self.topology.name}: the numbers need more than the 125 bits of the native core; plain Python is "
                "used, which is hundreds of times slower (bandwidths with fewer digits or a common denominator help)"
            )

    def problem(self, capacities: Sequence[int], bound: int) -> tuple[Core, AnyProblem]:
        """Return a core that is exact up to `bound`, and its problem: the network with the given capacities."""
        core = core_for(bound)
        ends = map(list, (*self.topology.link_ends, capacities, self.topology.compute, self.weights))
        return core, core.Problem(len(self.topology.nodes), *ends)


def require_all_ports(topology: Topology) -> None:
    """Check that a node may use all its links at once, which every bound here assumes.

    Limits of nodes are links by now (`topology/graph/node_limits.py`), unless they were added to a network that was
    already built.

    Raises:
        NoSolutionError: the topology has another port model, or limits of nodes that are no links.
    """
    if topology.port_model is not None:
        limits = "; the limits of nodes also count without it" if topology.port_model == BOUNDED else ""
        raise NoSolutionError(
            f"{topology.name}: port_model is {topology.port_model}; this function needs nodes that use all their links "
            f"at once (if they can, leave port_model out{limits}); 'forestcoll one-port' handles one port"
        )
    limited = next((node for node in topology.nodes if not NODE_LIMITS.isdisjoint(node.attributes)), None)
    if limited is not None:
        raise NoSolutionError(
            f"{topology.name}: node {shown(limited.id)} has a limit that is no link; build the network again from the "
            "nodes with their limits, with TopologyBuilder or load_topology"
        )


def unbalanced_switch(topology: Topology, capacities: Sequence[int]) -> tuple[int, int] | None:
    """Return the first unbalanced switch, with its entering minus its exit capacity, or None if there is none."""
    surplus = [0] * len(topology.nodes)
    for link, capacity in zip(topology.links, capacities, strict=True):
        surplus[link.target] += capacity
        surplus[link.source] -= capacity
    return next(((switch, surplus[switch]) for switch in topology.switches if surplus[switch]), None)
