"""The search for one forest: its optimum, and the best bandwidth for a given number of trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.forests.bottleneck import bottleneck, plan_reaching, plan_with_trees, remark_on_trees
from forestcoll.solver.forests.interface import ForestChoice
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology


@dataclass(frozen=True)
class ForestSearch:
    """The search for the trees of one phase, on a network with balanced switches.

    Attributes:
        scaled: the network; if data is reduced, the transposed network.
        found: the fewest out-trees on `scaled` that reach the optimum, or the given algbw.
        cut: the bottleneck cut of the given network, node numbers in rising order; empty if an algbw was given.
    """

    scaled: ScaledTopology
    found: ForestPlan
    cut: tuple[int, ...]

    @staticmethod
    def of(
        topology: Topology, demand: NodeDemand, progress: Progress, *, algbw: Fraction | None = None
    ) -> "ForestSearch":
        """Return the search for the trees of `demand` at the optimum, or at `algbw`, which must be reachable."""
        scaled, outwards = _scaled(topology, demand)
        cut: tuple[int, ...] = ()
        if algbw is None:
            ratio, cut = bottleneck(scaled, progress)
            algbw = scaled.whole * scaled.unit / ratio
        found = plan_reaching(scaled, outwards, algbw, cut, progress)
        return ForestSearch(scaled, found, _given_cut(scaled, cut) if cut else ())

    @property
    def best(self) -> ForestPlan:
        """The fewest trees that reach the optimum."""
        return self._on_given(self.found)

    @property
    def bound(self) -> Bound:
        """The bound that the bottleneck cut proves."""
        return Bound(self.best.demand.collective, self.found.algbw, CutProof(self.cut))

    def restricted(self, trees: int, progress: Progress = SILENT) -> ForestPlan:
        """Return the plan with the greatest algbw for `trees` trees for each weight of 1.

        Raises:
            NoSolutionError: when bandwidths are rounded to so many trees, a switch sends more than it receives, and no
                trimming was found that fixes this.
        """
        remark_on_trees(self.scaled, self.found, trees, progress)
        return self._on_given(plan_with_trees(self.scaled, self.found, trees))

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[ForestChoice, ...]:
        """Return one candidate (see `Search.candidates`). It is exact if no switch can copy or add up (Theorem 12)."""
        plan = self.best if trees is None else self.restricted(trees, progress)
        return (ForestChoice(plan.algbw, (plan,), is_exact=not plan.topology.able_switches),)

    def _on_given(self, found: ForestPlan) -> ForestPlan:
        """Return the plan on the given network, which is transposed in `scaled` if data is reduced."""
        return found.transposed() if self.scaled.backwards else found


def exit_bound(topology: Topology, demand: NodeDemand, progress: Progress) -> Bound:
    """Return the bound that the bottleneck cut proves. It is possible that no schedule reaches it."""
    scaled, _ = _scaled(topology, demand)
    ratio, cut = bottleneck(scaled, progress)
    return Bound(demand.collective, scaled.whole * scaled.unit / ratio, CutProof(_given_cut(scaled, cut)))


def _scaled(topology: Topology, demand: NodeDemand) -> tuple[ScaledTopology, NodeDemand]:
    """Return the network on which data flows away from the roots, and the demand on it."""
    weights, backwards = demand.weights(topology), demand.collective.only_reduces
    if backwards:
        topology, demand = topology.transposed(), replace(demand, collective=demand.collective.dual)
    return ScaledTopology.of(topology, weights, backwards=backwards), demand


def _given_cut(scaled: ScaledTopology, cut: Sequence[int]) -> tuple[int, ...]:
    """Return the cut of the given network: the complement of `cut` if `scaled` is transposed."""
    if not scaled.backwards:
        return tuple(cut)
    inside = set(cut)
    return tuple(node for node in range(len(scaled.topology.nodes)) if node not in inside)
