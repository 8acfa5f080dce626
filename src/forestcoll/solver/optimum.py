"""The exact optimum of a collective, with its bound and the proof (ForestColl §4, §5.2, §5.5, §5.7)."""

from dataclasses import replace

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.problem import OptimumProblem, on_network
from forestcoll.topology import Topology
from forestcoll.topology.graph.logical_network import BandwidthSplit, LogicalNetwork, logical_network
from forestcoll.topology.graph.part import part_without
from forestcoll.topology.graph.walks import unreachable_pair


def optimum_without_relays(
    best: TreeOptimum, *, trees: int | None = None, max_trees: int | None = None, progress: Progress = SILENT
) -> TreeOptimum | None:
    """Return the optimum of `best.demand` on the network without its idle nodes and their links.

    Args:
        best: an optimum, as `optimum` returns it.
        trees: as for `solve`.
        max_trees: as for `solve`.
        progress: receives the stages of the work.

    Returns:
        The optimum; None if nodes that take part cannot all reach each other without relays, or if there is no solution
        with the number of trees.

    Example:
        >>> from forestcoll import Demand, optimum
        >>> half = optimum("dgx-a100:boxes=2", Demand(ranks="0-3,8-11"))
        >>> str(half.algbw), str(optimum_without_relays(half).algbw)
        ('2600/7', '200')
    """
    bare = part_without(best.topology, best.members)
    if unreachable_pair(bare, best.members) is not None:
        return None
    try:
        problem = OptimumProblem.of(bare, replace(best.demand, ranks=None), progress)
        return _solved(problem, trees, max_trees, progress)
    except NoSolutionError:
        return None


def solve(  # noqa: PLR0913 (the demand and the numbers of trees and peers)
    network: Topology,
    demand: NodeDemand,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    max_peers: int | None = None,
    progress: Progress = SILENT,
) -> TreeOptimum:
    """Return the optimum of `demand` along trees, with the schedule that was made to compute it, if any.

    Without `trees` or `max_trees`, the optimum has few trees per root that reach it, in most networks the fewest.
    Their number does not depend on the order of the nodes.

    Args:
        network: the network. If switches are not balanced, the optimum is that of their largest balanced use, which may
            be below the cut bound.
        demand: the demand.
        trees: the number of trees per root; see `algorithms.trees.Trees`.
        max_trees: the most trees per root; the optima of all numbers that were tried are in `by_trees`.
        max_peers: the most ranks of other boxes that a rank exchanges data with.
        progress: receives the stages of the work.

    Raises:
        InputError: `max_peers` is too small, or the network has no equal boxes behind switches.
        NoSolutionError: the topology is one-port; or bandwidths rounded to `trees` leave a switch that sends more than
            it receives, and no trimming was found that fixes this; or a linear program for unbalanced switches could
            not be solved exactly.
    """
    require_all_ports(network)
    problem = OptimumProblem.of(network, demand, progress)
    if max_peers is None:
        return _solved(problem, trees, max_trees, progress)
    logical = with_peers(network, problem.demand.collective, max_peers)
    limited = OptimumProblem.of(logical.topology, problem.demand, progress)
    return on_network(_solved(limited, trees, max_trees, progress), problem, logical)


def with_peers(network: Topology, collective: Collective, most: int) -> LogicalNetwork:
    """Return the network in which a rank exchanges data of a collective with at most `most` ranks of other boxes.

    Raises:
        InputError: as `logical_network`.
    """
    return logical_network(network, most, _spread(collective))


def _spread(collective: Collective) -> BandwidthSplit:
    """Return how the trees of a collective use the distances between boxes."""
    if collective is Collective.ALLREDUCE:
        return BandwidthSplit.BOTH
    if collective.has_root:
        return BandwidthSplit.EQUAL
    return BandwidthSplit.INWARDS if collective.only_reduces else BandwidthSplit.OUTWARDS


def _solved(problem: OptimumProblem, trees: int | None, max_trees: int | None, progress: Progress) -> TreeOptimum:
    problem.remark(progress)
    if max_trees is not None:
        return problem.solve_up_to(max_trees, progress)
    if trees is not None:
        progress.begin("finding the best bandwidth for the number of trees")
    return problem.solve(trees, progress)
