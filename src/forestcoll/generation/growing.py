"""A forest of out-trees: what is handed to a core, and by which way the trees are found."""

from dataclasses import dataclass

from forestcoll.core import AnyProblem, Core, RoutedTrees
from forestcoll.errors import NoSolutionError
from forestcoll.method import Method
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.value import Optimum
from forestcoll.progress import Progress


@dataclass(frozen=True)
class Forest:
    """Trees to be found, all data flowing away from their roots.

    Attributes:
        best: the optimum that they reach; its collective does not reduce.
        core: the core that is exact for it.
        problem: its network, with capacities in trees.
    """

    best: Optimum
    core: Core
    problem: AnyProblem

    @staticmethod
    def of(best: Optimum, progress: Progress) -> "Forest":
        """Return the forest that reaches `best`."""
        capacities, weights = best.tree_capacities(), best.weights
        scaled = ScaledTopology.of(best.topology, weights)
        bound = sum(capacities) + 2 * sum(weights) * best.trees_per_root
        scaled.remark_on_width(bound, progress)
        return Forest(best, *scaled.problem(capacities, bound))

    def found(self, way: Method, progress: Progress) -> RoutedTrees:
        """Return all trees.

        Raises:
            NoSolutionError: `way` is fast, and the fast way did not complete all trees.
        """
        return self._proven(progress) if way is Method.PROVEN else self._grown(way, progress)

    def _grown(self, way: Method, progress: Progress) -> RoutedTrees:
        progress.begin("growing trees")
        trees, prove = self.best.trees_per_root, way is Method.AUTO
        routed, counters = self.core.grow_trees(self.problem, trees, progress.advance, prove=prove)
        progress.note(counters)
        if counters["missing"]:
            raise NoSolutionError(
                f"{self.best.topology.name}: the fast way left the trees of {counters['missing']} roots incomplete; "
                "use the method auto or proven"
            )
        return RoutedTrees(*routed)

    def _proven(self, progress: Progress) -> RoutedTrees:
        trees = self.best.trees_per_root
        progress.begin("removing switches")
        logical = self.core.remove_switches(self.problem, trees, progress.advance)
        progress.begin("packing trees")
        batches, counters = self.core.pack_trees(self.problem, logical, trees, progress.advance)
        progress.note(counters)
        progress.begin("routing trees")
        return RoutedTrees(*self.core.route_trees(self.problem, logical, batches, progress.advance))
