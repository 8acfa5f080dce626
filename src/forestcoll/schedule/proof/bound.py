"""A bound of a collective, with its proof."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof.proof import Proof


@dataclass(frozen=True, repr=False)
class Bound(Displayed):
    """An algbw that no schedule of a collective on a network exceeds.

    Attributes:
        collective: the collective.
        algbw: the bound, in the unit of the topology.
        proof: the proof. If `proof.trees_only`, the bound holds only for schedules whose data moves along trees.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("ring:nodes=4")
        >>> str(best.bound.algbw), best.bound.proof.algbw(best.topology, best.demand) == best.bound.algbw
        ('8/3', True)
        >>> best.bound
        <Bound: no allgather exceeds an algbw of 8/3>
    """

    collective: Collective
    algbw: Fraction
    proof: Proof
