"""What is known of a collective on a network: the algbw that can be reached, and the bound."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.base.display import Displayed
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.topology import Topology


@dataclass(frozen=True)
class Rate(Displayed):
    """The algbw of a collective on a network, next to its bound: the base of `Optimum` and `FlowOptimum`.

    Attributes:
        topology: the network.
        demand: the collective and its parameters, in node numbers.
        algbw: the algbw that is reached, in the unit of the topology.
        bound: the algbw that no schedule exceeds, with the proof.
    """

    topology: Topology
    demand: NodeDemand
    algbw: Fraction
    bound: Bound

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.demand.collective

    @property
    def root(self) -> int | None:
        """The number of the root of a collective with a root; None for other collectives."""
        return self.demand.root

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """The numbers of the compute nodes that take part, in rising order; None if all take part."""
        return self.demand.ranks

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, in rising order."""
        return self.demand.members(self.topology)

    @property
    def is_optimal(self) -> bool:
        """Whether `algbw` equals the bound."""
        return self.algbw == self.bound.algbw

    @property
    def residual(self) -> float:
        """The relative amount by which the bound exceeds `algbw`."""
        return float(self.bound.algbw / self.algbw) - 1
