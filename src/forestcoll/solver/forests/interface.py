"""The interface of every search for the optimum of a collective: a bound with its proof, and candidate forests."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from forestcoll.base.progress import SILENT, Progress
from forestcoll.schedule.proof.bound import Bound
from forestcoll.solver.forests.packed_trees import TreePacking
from forestcoll.solver.forests.plan import ForestPlan


@dataclass(frozen=True)
class ForestChoice:
    """A choice of forests for a collective, or of packed trees for an allreduce.

    Attributes:
        algbw: the algorithmic bandwidth that the trees reach at least, in the unit of the topology.
        forests: one forest; for an allreduce, the forest that reduces and the forest that broadcasts. Empty if there is
            a packing.
        is_exact: whether the trees reach exactly `algbw`, not possibly more.
        packing: the trees of an allreduce, if they were packed one by one.
    """

    algbw: Fraction
    forests: tuple[ForestPlan, ...]
    is_exact: bool = False
    packing: TreePacking | None = None


class OptimumSearch(Protocol):
    """The search for the optimum of a collective on a network whose compute nodes all take part."""

    @property
    def bound(self) -> Bound:
        """The bound of all schedules, or only of schedules of trees if `bound.proof.trees_only`."""

    @property
    def cut(self) -> tuple[int, ...]:
        """A set of nodes with the least exit bandwidth for the data that must leave it; numbers in rising order."""

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[ForestChoice, ...]:
        """Return at least one choice of forests: with `trees` trees per root, or the fewest that reach the optimum.

        Raises:
            NoSolutionError: there is no choice with so many trees.
        """
