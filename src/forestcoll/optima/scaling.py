"""From exact bandwidths to integer capacities: the boundary between fractions and the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

from forestcoll.core import AnyProblem, Core, core_for, is_native
from forestcoll.errors import NoSolutionError
from forestcoll.progress import Progress
from forestcoll.topology import Topology

_TINY = 5000
"""Compute nodes times links of a network that plain Python solves in a second or so."""


@dataclass(frozen=True)
class ScaledTopology:
    """A topology whose bandwidths are integers without a common divisor.

    Attributes:
        topology: the network.
        capacities: of each link its bandwidth in units of `unit`.
        unit: the bandwidth that capacity 1 stands for, in the topology's unit.
        weights: of each compute node its part of the data, as a count of 1/`whole`.
        backwards: whether this is the transposed network of the one that was asked about.
    """

    topology: Topology
    capacities: tuple[int, ...]
    unit: Fraction
    weights: tuple[int, ...]
    backwards: bool = False

    @staticmethod
    def of(topology: Topology, weights: Sequence[int] | None = None, *, backwards: bool = False) -> "ScaledTopology":
        """Return `topology` in its greatest unit; every compute node has weight 1 unless `weights` are given."""
        bandwidths = [link.bandwidth for link in topology.links]
        denominator = lcm(*(bandwidth.denominator for bandwidth in bandwidths))
        numerators = [int(bandwidth * denominator) for bandwidth in bandwidths]
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
        """Return of each link floor(scale * capacity)."""
        numerator, denominator = scale.numerator, scale.denominator
        return tuple(capacity * numerator // denominator for capacity in self.capacities)

    def remark_on_width(self, bound: int, progress: Progress) -> None:
        """Let `progress` know if numbers up to `bound` are too wide for the native core, and it will be felt."""
        size = len(self.topology.compute) * len(self.topology.links)
        if size > _TINY and not is_native(core_for(bound)):
            progress.remark(
                f"{self.topology.name}: the numbers need more than the 125 bits of the native core; plain Python goes "
                "on, hundreds of times slower (bandwidths with fewer digits or a common denominator help)"
            )

    def problem(self, capacities: Sequence[int], bound: int) -> tuple[Core, AnyProblem]:
        """Return the network with these capacities on its links, and a core that is exact up to `bound`."""
        core = core_for(bound)
        links = self.topology.links
        tails, heads = [link.source for link in links], [link.target for link in links]
        compute, weights = list(self.topology.compute), list(self.weights)
        return core, core.Problem(len(self.topology.nodes), tails, heads, list(capacities), compute, weights)


def require_all_ports(topology: Topology) -> None:
    """Check that a node may use all its links at once, which every bound here takes for granted.

    Raises:
        NoSolutionError: the topology says otherwise.
    """
    if topology.port_model is not None:
        raise NoSolutionError(
            f"{topology.name}: port_model is {topology.port_model}; this is for nodes that use all their links at once "
            "(leave port_model out if they may); 'forestcoll broadcast-series' handles one port"
        )


def unbalanced_switch(topology: Topology, capacities: Sequence[int]) -> tuple[int, int] | None:
    """Return the first switch that takes in more or less than it gives out, and how much more, or None."""
    surplus = [0] * len(topology.nodes)
    for link, capacity in zip(topology.links, capacities, strict=True):
        surplus[link.target] += capacity
        surplus[link.source] -= capacity
    return next(((switch, surplus[switch]) for switch in topology.switches if surplus[switch]), None)
