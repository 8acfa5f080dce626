"""The exact optimum of a collective, with its bound and the proof (ForestColl §4, §5.2, §5.5, §5.7)."""

from dataclasses import replace

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, ShardsByNode
from forestcoll.demand.demand import Demand, DemandLike
from forestcoll.demand.ranks import RanksLike
from forestcoll.solver.counts import count_of
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.forests.value import Optimum
from forestcoll.solver.problem import Problem, Solution
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.graph.logical_network import LogicalNetwork, Spread, logical_network
from forestcoll.topology.graph.part import part_without
from forestcoll.topology.graph.walks import unreachable_pair
from forestcoll.topology.registry import load_topology


def optimum(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    collective: DemandLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    max_peers: int | None = None,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of `collective` on `topology`: the bandwidth that `generate` reaches, and its bound.

    Without `trees` or `max_trees`, the optimum has few trees per root that reach it, in most networks the fewest.
    Their number does not depend on the order of the nodes.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph. If switches are
            not balanced, the optimum is that of their largest balanced use, which may be below the cut bound.
        collective: the collective, or a `Demand` that also holds the ranks, the root and the shards.
        ranks: the compute nodes that take part, as for `ranks_of`: positions or ids, or a text such as `0-7,16-23`;
            all if None. Idle compute nodes serve as relays.
        root: for a broadcast or a reduce, the compute node that is its root: an id or a position.
        shards: for an allgather or a reduce-scatter, the part of the data of each compute node, by node id. The parts
            add up to 1; nodes that are missing have 0. All parts are equal if None.
        trees: the number of trees per root, in an allreduce the mean over the roots. If all switches are balanced, the
            result is the best bandwidth with that number, except for an allreduce. For an allreduce and for unbalanced
            switches, bandwidths or weights are rounded, and it is the best that is found; `bound` states the distance.
        max_trees: the most trees per root. The result is the best that `trees` finds for 1 to `max_trees`, with the
            smallest of equally good numbers.
        max_peers: the most ranks of other boxes that a rank exchanges data with. The result is the optimum of a logical
            network (`topology.logical_network`); `bound` is still that of all schedules.
        progress: receives the stages of the work.

    Returns:
        The optimum. `algbw` is in the unit of the topology. `bound.proof.algbw(topology, demand)` checks the proof.

    Raises:
        InputError: `trees` or `max_trees` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or both are given;
            or the collective, the ranks, the root or the shards are not valid, or a node that takes part cannot reach
            another; or `max_peers` is too small, or the network has no equal boxes behind switches.
        NoSolutionError: the topology is one-port; or bandwidths rounded to `trees` leave a switch that sends more than
            it receives, and no trimming was found that fixes this; or a linear program for unbalanced switches could
            not be solved exactly.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("dgx-a100:boxes=2", "allreduce")
        >>> str(best.algbw), best.bound.proof.kind, best.is_optimal
        ('520/3', 'receipt', True)
    """
    request = Demand.of(collective, ranks, root, shards)
    counts = {"trees": trees, "max_trees": max_trees, "max_peers": max_peers}
    return solve(topology, request, **counts, progress=progress).optimum


def optima_by_trees(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    collective: DemandLike = Collective.ALLGATHER,
    *,
    most: int,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    progress: Progress = SILENT,
) -> tuple[Optimum, ...]:
    """Return the optimum for each number of trees per root from 1 to `most` that has a solution.

    The search ends at the first number of trees that reaches the optimum of any number of trees.

    Args:
        topology: as for `optimum`.
        collective: as for `optimum`.
        most: the greatest number of trees per root.
        ranks: as for `optimum`.
        root: as for `optimum`.
        shards: as for `optimum`.
        progress: receives the stages of the work.

    Returns:
        One optimum for each number of trees, in rising order of the number.

    Raises:
        InputError: `most` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or another argument is not valid.
        NoSolutionError: the topology is one-port, a linear program for unbalanced switches could not be solved exactly,
            or no number of trees has a solution.

    Example:
        >>> from forestcoll import optima_by_trees
        >>> [str(each.algbw) for each in optima_by_trees("mi250:boxes=2,gpus=8", most=4)]
        ['200', '200', '200', '1024/5']
    """
    request = Demand.of(collective, ranks, root, shards)
    return solve(topology, request, max_trees=count_of("most", most), progress=progress).by_trees


def optimum_without_relays(
    best: Optimum, *, trees: int | None = None, max_trees: int | None = None, progress: Progress = SILENT
) -> Optimum | None:
    """Return the optimum of `best.demand` on the network without its idle nodes and their links.

    Args:
        best: an optimum, as `optimum` returns it.
        trees: as for `optimum`.
        max_trees: as for `optimum`.
        progress: receives the stages of the work.

    Returns:
        The optimum; None if nodes that take part cannot all reach each other without relays, or if there is no solution
        with the number of trees.

    Example:
        >>> from forestcoll import optimum, optimum_without_relays
        >>> half = optimum("dgx-a100:boxes=2", ranks="0-3,8-11")
        >>> str(half.algbw), str(optimum_without_relays(half).algbw)
        ('2600/7', '200')
    """
    bare = part_without(best.topology, best.members)
    if unreachable_pair(bare, best.members) is not None:
        return None
    try:
        problem = Problem.of(bare, replace(best.demand, ranks=None), progress)
        return _solved(problem, trees, max_trees, progress).optimum
    except NoSolutionError:
        return None


def solve(  # noqa: PLR0913 (the request and how to solve it)
    topology: TopologyLike,
    request: Demand,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    max_peers: int | None = None,
    progress: Progress = SILENT,
) -> Solution:
    """Return the optimum of `request`, see `optimum`, with the schedule that was made to compute it, if any."""
    trees, max_trees = _counts(trees, max_trees)
    network = load_topology(topology, connected=request.ranks is None)
    require_all_ports(network)
    problem = Problem.of(network, request.demand(network), progress)
    if max_peers is None:
        return _solved(problem, trees, max_trees, progress)
    logical = with_peers(network, problem.demand.collective, count_of("max_peers", max_peers))
    limited = Problem.of(logical.topology, problem.demand, progress)
    return _solved(limited, trees, max_trees, progress).on_network(problem, logical)


def with_peers(network: Topology, collective: Collective, most: int) -> LogicalNetwork:
    """Return the network in which a rank exchanges data of a collective with at most `most` ranks of other boxes.

    Raises:
        InputError: as `logical_network`.
    """
    return logical_network(network, most, _spread(collective))


def _spread(collective: Collective) -> Spread:
    """Return how the trees of a collective use the distances between boxes."""
    if collective is Collective.ALLREDUCE:
        return Spread.BOTH
    if collective.has_root:
        return Spread.EQUAL
    return Spread.INWARDS if collective.only_reduces else Spread.OUTWARDS


def _solved(problem: Problem, trees: int | None, max_trees: int | None, progress: Progress) -> Solution:
    problem.remark(progress)
    if max_trees is not None:
        return problem.solve_up_to(max_trees, progress)
    if trees is not None:
        progress.begin("finding the best bandwidth for the number of trees")
    return problem.solve(trees, progress)


def _counts(trees: int | None, max_trees: int | None) -> tuple[int | None, int | None]:
    """Check the numbers of trees, and return them as Python integers."""
    if trees is not None and max_trees is not None:
        raise InputError("trees and max_trees exclude each other; give one of them")
    return (
        None if trees is None else count_of("trees", trees),
        None if max_trees is None else count_of("max_trees", max_trees),
    )
