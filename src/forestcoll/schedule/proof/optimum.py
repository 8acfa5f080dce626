"""The optimum as a value: the algbw that can be reached, and its bound with the proof; kinds say what reaches it."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.base.display import Displayed
from forestcoll.base.exact import as_float
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.topology import Topology


@dataclass(frozen=True, repr=False)
class Optimum(Displayed):
    """The greatest algbw of a demand on a network, next to its bound. `optimum` returns it.

    Trees, flows and groups each have a kind of optimum, which also holds what reaches the algbw.

    Attributes:
        topology: the network.
        algbw: the algbw that is reached, in the unit of the topology.
        bound: the algbw that no schedule exceeds, with the proof.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("dgx-a100:boxes=2")
        >>> str(best.algbw), best.is_optimal, best.bound.proof.kind
        ('1040/3', True, 'cut')
    """

    topology: Topology
    algbw: Fraction
    bound: Bound

    @property
    def is_optimal(self) -> bool:
        """Whether `algbw` equals the bound."""
        return self.algbw == self.bound.algbw

    @property
    def residual(self) -> float:
        """The relative amount by which the bound exceeds `algbw`."""
        return as_float(self.bound.algbw / self.algbw) - 1


@dataclass(frozen=True, repr=False)
class CollectiveOptimum(Optimum):
    """The optimum of one collective: the base of `TreeOptimum` and `FlowOptimum`.

    Attributes:
        demand: the collective and its parameters, in node numbers.
    """

    demand: NodeDemand

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.demand.collective

    @property
    def root(self) -> int | None:
        """The number of the root of a collective with a root; None for other collectives."""
        return self.demand.root

    @property
    def busbw(self) -> Fraction | None:
        """`algbw` as busbw, as nccl-tests defines it; None for parts of different sizes, of which it has none."""
        factor = self.demand.busbw_factor(self.topology)
        return None if factor is None else self.algbw * factor

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """The numbers of the compute nodes that take part, in rising order; None if all take part."""
        return self.demand.ranks

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, in rising order."""
        return self.demand.members(self.topology)
