"""A forest of out-trees: the problem for the core, and the two methods to find the trees."""

from dataclasses import dataclass
from enum import StrEnum

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.kernels import AnyProblem, Core, RoutedTrees, core_for
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.scaling import ScaledTopology


class TreeSearch(StrEnum):
    """How trees are found. All ways reach the optimum."""

    AUTO = "auto"
    """The fast way, and the proven way for trees that the fast way cannot complete."""
    FAST = "fast"
    """The fast way only."""
    PROVEN = "proven"
    """The way of the paper: edge splitting and tree packing."""


@dataclass(frozen=True)
class Forest:
    """Trees that are to be found, whose data flows away from the roots.

    Attributes:
        plan: the input of the generation; its data flows away from the roots.
        bound: no sum of capacities or trees is greater.
        core: a core with integers wide enough for the plan.
        problem: the network of the plan, with capacities in trees.
    """

    plan: ForestPlan
    bound: int
    core: Core
    problem: AnyProblem

    @staticmethod
    def of(plan: ForestPlan, progress: Progress, parts: int = 1) -> "Forest":
        """Return the forest of `plan`; its core can divide each tree into `parts`."""
        capacities, weights = plan.tree_capacities(), plan.weights
        scaled = ScaledTopology.of(plan.topology, weights)
        bound = (sum(capacities) + 2 * sum(weights) * plan.trees_per_root) * parts
        scaled.remark_on_width(bound, progress)
        return Forest(plan, bound, *scaled.problem(capacities, bound))

    def divided(self, parts: int, progress: Progress) -> "Forest":
        """Return the same forest with a core that can divide each tree into `parts`."""
        return self if core_for(self.bound * parts) is self.core else Forest.of(self.plan, progress, parts)

    def found(self, search: TreeSearch, progress: Progress) -> RoutedTrees:
        """Return all trees.

        Raises:
            NoSolutionError: `method` is `fast`, and it did not complete all trees.
        """
        return self._proven(progress) if search is TreeSearch.PROVEN else self._grown(search, progress)

    def _grown(self, search: TreeSearch, progress: Progress) -> RoutedTrees:
        progress.begin("growing trees")
        trees, prove = self.plan.trees_per_root, search is TreeSearch.AUTO
        routed, counters = self.core.grow_trees(self.problem, trees, progress.advance, prove=prove)
        progress.note(counters)
        if counters["missing"]:
            raise NoSolutionError(
                f"{self.plan.topology.name}: the fast method left the trees of {counters['missing']} roots incomplete; "
                "use the method auto or proven"
            )
        return RoutedTrees(*routed)

    def _proven(self, progress: Progress) -> RoutedTrees:
        trees = self.plan.trees_per_root
        progress.begin("removing switches")
        logical = self.core.remove_switches(self.problem, trees, progress.advance)
        progress.begin("packing trees")
        batches, counters = self.core.pack_trees(self.problem, logical, trees, progress.advance)
        progress.note(counters)
        progress.begin("routing trees")
        return RoutedTrees(*self.core.route_trees(self.problem, logical, batches, progress.advance))
