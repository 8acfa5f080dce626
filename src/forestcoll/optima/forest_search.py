"""The search for one forest: its optimum, and what fewer trees allow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.optima import spanning
from forestcoll.optima.plan import ForestPlan
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.search import Candidate
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class ForestSearch:
    """The trees of one phase, on a network whose switches take in as much as they send on.

    Attributes:
        scaled: the network, transposed where data is reduced.
        found: the fewest out-trees that reach the optimum on it, or the algbw that was asked for.
        cut: the bottleneck cut of the network that was asked about, node numbers, rising; empty if an algbw was given.
    """

    scaled: ScaledTopology
    found: ForestPlan
    cut: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress, *, algbw: Fraction | None = None) -> "ForestSearch":
        """Return the search for the trees of `demand` at the optimum, or at a possible `algbw`."""
        scaled, outwards = _scaled(topology, demand)
        cut: tuple[int, ...] = ()
        if algbw is None:
            ratio, cut = spanning.bottleneck(scaled, progress)
            algbw = scaled.whole * scaled.unit / ratio
        found = spanning.reaching(scaled, outwards, algbw, cut, progress)
        return ForestSearch(scaled, found, _as_asked(scaled, cut) if cut else ())

    @property
    def best(self) -> ForestPlan:
        """The fewest trees that reach the optimum."""
        return self._as_asked(self.found)

    @property
    def bound(self) -> Bound:
        """The bound that the bottleneck cut proves."""
        return Bound(self.best.demand.collective, self.found.algbw, CutProof(self.cut))

    def restricted(self, trees: int, progress: Progress = SILENT) -> ForestPlan:
        """Return the best that `trees` trees for each weight of 1 allow.

        Raises:
            NoSolutionError: a switch becomes unbalanced for good when bandwidths are rounded to so many trees.
        """
        spanning.remark_on_trees(self.scaled, self.found, trees, progress)
        return self._as_asked(spanning.with_trees(self.scaled, self.found, trees))

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[Candidate, ...]:
        """As `Search.candidates`: one, exact unless switches copy or add up and so save traffic (Theorem 12)."""
        plan = self.best if trees is None else self.restricted(trees, progress)
        return (Candidate(plan.algbw, (plan,), is_exact=not plan.topology.able_switches),)

    def _as_asked(self, found: ForestPlan) -> ForestPlan:
        return found.transposed() if self.scaled.backwards else found


def exit_bound(topology: Topology, demand: Demand, progress: Progress) -> Bound:
    """Return the bound that a bottleneck cut proves. Nothing need reach it."""
    scaled, _ = _scaled(topology, demand)
    ratio, cut = spanning.bottleneck(scaled, progress)
    return Bound(demand.collective, scaled.whole * scaled.unit / ratio, CutProof(_as_asked(scaled, cut)))


def _scaled(topology: Topology, demand: Demand) -> tuple[ScaledTopology, Demand]:
    """Return the network on which data flows away from the roots, and what is asked of it."""
    weights, backwards = demand.weights(topology), demand.collective.only_reduces
    if backwards:
        topology, demand = topology.transposed(), replace(demand, collective=demand.collective.dual)
    return ScaledTopology.of(topology, weights, backwards=backwards), demand


def _as_asked(scaled: ScaledTopology, cut: Sequence[int]) -> tuple[int, ...]:
    """Return the cut of the network that was asked about: what left it on the transposed one enters it there."""
    if not scaled.backwards:
        return tuple(cut)
    inside = set(cut)
    return tuple(node for node in range(len(scaled.topology.nodes)) if node not in inside)
