"""A series of broadcasts over all of the platform, over its best DAG, and along its best tree (§3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forestcoll.collective import Collective
from forestcoll.errors import InputError, shown
from forestcoll.oneport.best_dag import BestDag, best_dag
from forestcoll.oneport.best_tree import BestTree, best_tree
from forestcoll.oneport.dag import dag_optimum, dag_order
from forestcoll.oneport.optimum import SteadyOptimum, steady_optimum
from forestcoll.oneport.platform import Platform
from forestcoll.oneport.series import periodic_schedule
from forestcoll.progress import SILENT, Progress
from forestcoll.proof import Bound
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.topology import NodeId, Topology


class Along(StrEnum):
    """Which links a series may use."""

    GRAPH = "graph"
    """All of them, in several trees."""
    DAG = "dag"
    """Those that lead forward in an order of the nodes."""
    TREE = "tree"
    """Those of one tree."""


@dataclass(frozen=True)
class SeriesComparison:
    """What a series of broadcasts can reach.

    Attributes:
        best: the optimum over all schedules.
        tree: the best single tree, or the best one found.
        dag: the best DAG, or the best one found, or that of the order that was asked for.
    """

    best: SteadyOptimum
    tree: BestTree
    dag: BestDag

    def schedule(self, along: Along | str = Along.GRAPH) -> SeriesSchedule:
        """Return the periodic schedule over the graph, the DAG or the tree.

        Raises:
            InputError: there is no such restriction.
            NoSolutionError: the period has thousands of digits.
        """
        trees = {Along.GRAPH: self._trees(), Along.DAG: self.dag.dag.trees, Along.TREE: (self.tree.tree,)}
        try:
            chosen = trees[Along(along)]
        except ValueError:
            known = ", ".join(repr(each.value) for each in Along)
            raise InputError(f"a series cannot run along {shown(along)}; there are {known}") from None
        bound = Bound(Collective.BROADCAST, self.best.throughput, self.best.certificate)
        return periodic_schedule(self.best.platform, chosen, bound)

    def _trees(self) -> tuple[SeriesTree, ...]:
        """Return the fewest trees known to reach the optimum."""
        reaching = [
            trees
            for trees, throughput in (
                ((self.tree.tree,), self.tree.throughput),
                (self.dag.dag.trees, self.dag.throughput),
                (self.best.trees, self.best.throughput),
            )
            if throughput == self.best.throughput
        ]
        return min(reaching, key=len)


def compare_series(
    topology: Topology, source: NodeId, *, order: Sequence[NodeId] | None = None, progress: Progress = SILENT
) -> SeriesComparison:
    """Return what a series of broadcasts from `source` reaches over all links, a DAG and a tree.

    Args:
        topology: the network; `port_model` says whether a node uses one link at a time or all.
        source: the id of the compute node that all messages come from.
        order: the ids of all nodes, the source first: then the DAG is that of the links that lead forward in it.
        progress: is told of stages.

    Raises:
        InputError: the source is unknown or a switch, or the order is not one of all nodes.
        NoSolutionError: a compute node cannot be reached.
    """
    platform = Platform.of(topology, source)
    numbers = None if order is None else dag_order(platform, order)
    best = steady_optimum(platform, progress)
    tree = best_tree(best, progress)
    if numbers is None:
        return SeriesComparison(best, tree, best_dag(best, tree, progress))
    asked = dag_optimum(platform, numbers)
    return SeriesComparison(best, tree, BestDag(asked, best.throughput, asked.throughput == best.throughput))
