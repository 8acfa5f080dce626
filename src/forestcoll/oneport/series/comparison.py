"""A series of broadcasts over the whole platform, over its best DAG, and along its best tree (§3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.errors import InputError, member_named, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.oneport.platform.odd_sets import violated_odd_sets
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.best_dag import BestDag, best_dag
from forestcoll.oneport.series.best_tree import BestTree, best_tree
from forestcoll.oneport.series.dag import dag_optimum, dag_order
from forestcoll.oneport.series.fewer_trees import equal_trees
from forestcoll.oneport.series.optimum import SteadyOptimum, steady_optimum
from forestcoll.oneport.series.periodic import periodic_schedule
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.topology import NodeId, TopologyLike
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.topology.registry import load_topology


class SeriesKind(StrEnum):
    """The links that a series may use.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import SeriesKind, compare_series
        >>> compared = compare_series(load_topology("ring:nodes=4"), 0)
        >>> len(compared.schedule(SeriesKind.TREE).trees)
        1
    """

    GRAPH = "graph"
    """All links, in several trees."""
    DAG = "dag"
    """The links that lead forward in an order of the nodes."""
    TREE = "tree"
    """The links of one tree."""


@dataclass(frozen=True)
class SeriesComparison:
    """The throughput of a series of broadcasts, without restriction and with two restrictions.

    Attributes:
        best: the optimum over all schedules.
        tree: the best single tree, or the best one found.
        dag: the best DAG, the best one found, or the DAG of the given order.

    Example:
        >>> from forestcoll import load_topology, verify
        >>> from forestcoll.oneport import compare_series
        >>> compared = compare_series(load_topology("ring:nodes=4"), 0)
        >>> str(compared.best.throughput), verify(compared.schedule()).ok
        ('2', True)
    """

    best: SteadyOptimum
    tree: BestTree
    dag: BestDag

    def schedule(self, along: SeriesKind | str = SeriesKind.GRAPH, *, loss: Fraction = Fraction(0)) -> SeriesSchedule:
        """Return the periodic schedule over the graph, the DAG or the tree.

        Args:
            along: the links that the schedule may use.
            loss: the part of the optimum that may be lost, 0 or more and less than 1. With a loss, the graph may need
                fewer trees and fewer rounds. The DAG and the tree are not changed.

        Raises:
            InputError: `along` is unknown, or `loss` is out of range.
            NoSolutionError: the period has too many digits.
        """
        if not 0 <= loss < 1:
            raise InputError(f"loss is {loss}; expected 0 or more and less than 1")
        kind = member_named(SeriesKind, along, f"a series cannot run along {shown(along)}")
        chosen = self._trees(kind, loss)
        bound = Bound(Collective.BROADCAST, self.best.throughput, self.best.certificate)
        return periodic_schedule(self.best.platform, chosen, bound)

    def _trees(self, along: SeriesKind, loss: Fraction) -> tuple[SeriesTree, ...]:
        """Return the trees of a restriction or, for the graph, the smallest known set within the loss."""
        if along is not SeriesKind.GRAPH:
            return self.dag.dag.trees if along is SeriesKind.DAG else (self.tree.tree,)
        wanted = (1 - loss) * self.best.throughput
        reaching = [
            trees
            for trees, throughput in (
                ((self.tree.tree,), self.tree.throughput),
                (self.dag.dag.trees, self.dag.throughput),
                (self.best.trees, self.best.throughput),
            )
            if throughput >= wanted
        ]
        smallest = min(reaching, key=len)
        if not loss or len(smallest) == 1 or not self.best.platform.has_node_ports:
            return smallest
        fewer = equal_trees(self.best.platform, wanted, self.best.certificate, len(smallest) - 1).trees
        return smallest if fewer is None or violated_odd_sets(self.best.platform, fewer) else fewer


def compare_series(
    topology: TopologyLike, source: NodeId, *, order: Sequence[NodeId] | None = None, progress: Progress = SILENT
) -> SeriesComparison:
    """Return the throughput of a series of broadcasts from `source` over all links, over a DAG and along a tree.

    Args:
        topology: the network. Its `port_model` says which links of a node can be busy at the same time.
        source: the compute node that sends all messages: its id or, if no node has that id, its position among the
            compute nodes.
        order: the ids of all compute nodes, the source first. The DAG then consists of the links that lead forward in
            this order. If None, the best order is searched.
        progress: receives the stages.

    Returns:
        The throughputs, in messages per unit of time. A message takes 1/bandwidth over a link.

    Raises:
        InputError: the source is unknown or a switch, or `order` does not contain each compute node once.
        NoSolutionError: a compute node cannot be reached.

    Example:
        >>> from dataclasses import replace
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import compare_series
        >>> ring = replace(load_topology("ring:nodes=3"), port_model="one-port")
        >>> compared = compare_series(ring, 0)
        >>> str(compared.best.throughput), str(compared.tree.throughput)
        ('1', '1')
    """
    topology = without_overheads(load_topology(topology))
    platform = Platform.of(topology, source)
    numbers = None if order is None else dag_order(platform, order)
    best = steady_optimum(platform, progress)
    tree = best_tree(best, progress)
    if numbers is None:
        return SeriesComparison(best, tree, best_dag(best, tree, progress))
    restricted = dag_optimum(platform, numbers)
    return SeriesComparison(best, tree, BestDag(restricted, best.throughput, restricted.throughput == best.throughput))
