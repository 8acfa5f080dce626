"""The search for one forest: its optimum, and what fewer trees allow."""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.optima import spanning
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class ForestSearch:
    """The trees of one phase.

    Attributes:
        scaled: the network, turned round where data is reduced.
        found: the optimum of out-trees on it.
    """

    scaled: ScaledTopology
    found: Optimum

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress, *, algbw: Fraction | None = None) -> "ForestSearch":
        """Return the search for the trees of `demand` at the optimum, or at a possible `algbw`."""
        weights, backwards = demand.weights(topology), demand.collective.only_reduces
        if backwards:
            topology, demand = topology.transposed(), replace(demand, collective=demand.collective.dual)
        scaled = ScaledTopology.of(topology, weights, backwards=backwards)
        return ForestSearch(scaled, spanning.unrestricted(scaled, demand, progress, algbw=algbw))

    @property
    def best(self) -> Optimum:
        """The fewest trees that reach the optimum."""
        return self._turned(self.found)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the best that `trees` trees for each weight of 1 allow.

        Raises:
            NoSolutionError: a switch becomes unbalanced for good when bandwidths are rounded to so many trees.
        """
        spanning.remark_on_trees(self.scaled, self.found, trees, progress)
        return self._turned(spanning.with_trees(self.scaled, self.found, trees))

    def _turned(self, found: Optimum) -> Optimum:
        return found.transposed() if self.scaled.backwards else found


def exit_bound(topology: Topology, demand: Demand, progress: Progress) -> tuple[Fraction, tuple[int, ...]]:
    """Return the algbw that no schedule of `demand` beats, and the cut that proves it. Nothing need reach it."""
    weights, backwards = demand.weights(topology), demand.collective.only_reduces
    scaled = ScaledTopology.of(topology.transposed() if backwards else topology, weights, backwards=backwards)
    ratio, cut = spanning.bottleneck(scaled, progress)
    if backwards:
        inside = set(cut)
        cut = tuple(node for node in range(len(topology.nodes)) if node not in inside)
    return scaled.whole * scaled.unit / ratio, cut
