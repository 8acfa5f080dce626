"""What every search for the optimum of a collective offers: a bound with its proof, and choices of forests."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from forestcoll.optima.plan import ForestPlan
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.bound import Bound


@dataclass(frozen=True)
class Candidate:
    """A choice of forests for a collective.

    Attributes:
        algbw: what they reach at least, in the topology's unit.
        forests: one forest, or of an allreduce the one that reduces and the one that gathers.
        is_exact: whether `algbw` is what they reach, not only a lower limit of it.
    """

    algbw: Fraction
    forests: tuple[ForestPlan, ...]
    is_exact: bool = False


class Search(Protocol):
    """The search for the optimum of a collective on a network whose compute nodes all take part."""

    @property
    def bound(self) -> Bound:
        """What no schedule beats, or no schedule of trees if its proof is about trees only."""

    @property
    def cut(self) -> tuple[int, ...]:
        """A set of nodes of the least exit bandwidth for what must leave it: node numbers, rising."""

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[Candidate, ...]:
        """Return the choices of forests, one at least, with `trees` trees per root or the fewest that are best.

        Raises:
            NoSolutionError: there is none with so many trees.
        """
