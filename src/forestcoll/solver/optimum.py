"""The exact optimum of a collective, with what bounds it and the proof (ForestColl §4, §5.2, §5.5, §5.7)."""

from dataclasses import replace
from numbers import Integral

from forestcoll.collective import Collective, ShardsByNode
from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.exact import MAX_TREES_DIGITS
from forestcoll.optima.scaling import require_all_ports
from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.request import Request, RequestLike
from forestcoll.solver.search import Problem, Solution
from forestcoll.topology import NodeId, TopologyLike
from forestcoll.topology.part import part_without
from forestcoll.topology.reach import unreachable_pair
from forestcoll.topology.registry import load_topology


def optimum(  # noqa: PLR0913 (what is asked, and how)
    topology: TopologyLike,
    collective: RequestLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of `collective` on `topology`: what `generate` reaches, and what bounds it.

    Without `trees` or `max_trees`, k is the fewest trees per root that reach the optimum.

    Args:
        topology: the network: a `Topology`, a builder's spec string, a path, or a networkx graph. Where switches take
            in more than they send on, or less, the optimum is that of their largest balanced use, which may be below
            the cut.
        collective: the operation, or a `Request` that holds the ranks, the root and the shards as well.
        ranks: which compute nodes take part, as `ranks_of` takes them: positions or ids, or a text such as `0-7,16-23`;
            all if there are none. Idle compute nodes serve as relays.
        root: of a broadcast or a reduce, the compute node that data comes from or goes to: its id or its position.
        shards: of an allgather or a reduce-scatter, what part of the data each compute node has: numbers by node ids,
            0 for those left out, 1 together; equal parts if there are none.
        trees: ask for exactly this many trees per root, and the best bandwidth that they allow.
        max_trees: ask for the best number of trees per root from 1 to this; the smallest of equally good ones.
        progress: is kept informed of the stages.

    Returns:
        The optimum. `algbw` is in the topology's unit. `bound.proof` is a value that checks itself by addition.

    Raises:
        InputError: `trees` or `max_trees` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or both are given;
            or the collective, the ranks, the root or the shards are not right, or one that takes part cannot reach
            another.
        NoSolutionError: the topology is one-port, a switch becomes unbalanced for good when bandwidths are rounded to
            `trees`, or how unbalanced ones can be used could not be computed exactly.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("dgx-a100:boxes=2", "allreduce")
        >>> str(best.algbw), best.bound.proof.kind, best.is_optimal
        ('520/3', 'receipt', True)
    """
    request = Request.of(collective, ranks, root, shards)
    return solve(topology, request, trees=trees, max_trees=max_trees, progress=progress).optimum


def optima_by_trees(  # noqa: PLR0913 (what is asked, and how)
    topology: TopologyLike,
    collective: RequestLike = Collective.ALLGATHER,
    *,
    most: int,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    progress: Progress = SILENT,
) -> tuple[Optimum, ...]:
    """Return what each number of trees per root from 1 to `most` allows, without those that cannot be had.

    The last is the first that does as well as any number of trees is sure to, where one does.

    Args:
        topology: as of `optimum`.
        collective: as of `optimum`.
        most: the greatest number of trees per root.
        ranks: as of `optimum`.
        root: as of `optimum`.
        shards: as of `optimum`.
        progress: is kept informed of the stages.

    Returns:
        An optimum for each number of trees, rising.

    Raises:
        InputError: `most` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or what is asked is not right.
        NoSolutionError: the topology is one-port, how unbalanced switches can be used could not be computed exactly, or
            none of the numbers can be had.

    Example:
        >>> from forestcoll import optima_by_trees
        >>> [str(each.algbw) for each in optima_by_trees("mi250:boxes=2,gpus=8", most=2)]
        ['200', '208']
    """
    request = Request.of(collective, ranks, root, shards)
    return solve(topology, request, max_trees=_count("most", most), progress=progress).by_trees


def optimum_without_relays(
    best: Optimum, *, trees: int | None = None, max_trees: int | None = None, progress: Progress = SILENT
) -> Optimum | None:
    """Return the optimum of what `best` was asked on the network without its idle nodes and their links.

    None where nodes that take part do not all reach each other then, or where so many trees cannot be had. `trees` and
    `max_trees` are as in `optimum`.
    """
    bare = part_without(best.topology, best.members)
    if unreachable_pair(bare, best.members) is not None:
        return None
    try:
        problem = Problem.of(bare, replace(best.demand, ranks=None), progress)
        return _solved(problem, trees, max_trees, progress).optimum
    except NoSolutionError:
        return None


def solve(
    topology: TopologyLike,
    request: Request,
    *,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Solution:
    """Return the optimum of `request` with the schedule that settled it, if one had to be made; as `optimum`."""
    trees, max_trees = _counts(trees, max_trees)
    network = load_topology(topology, connected=request.ranks is None)
    require_all_ports(network)
    return _solved(Problem.of(network, request.demand(network), progress), trees, max_trees, progress)


def _solved(problem: Problem, trees: int | None, max_trees: int | None, progress: Progress) -> Solution:
    problem.remark(progress)
    if max_trees is not None:
        return problem.solve_up_to(max_trees, progress)
    if trees is not None:
        progress.begin("finding the best bandwidth for the number of trees")
    return problem.solve(trees, progress)


def _counts(trees: int | None, max_trees: int | None) -> tuple[int | None, int | None]:
    """Return the numbers of trees as Python's own integers, checked."""
    if trees is not None and max_trees is not None:
        raise InputError("trees and max_trees exclude each other; give one of them")
    return (
        None if trees is None else _count("trees", trees),
        None if max_trees is None else _count("max_trees", max_trees),
    )


def _count(name: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InputError(f"{name} is {shown(count)}; it must be an integer of 1 or more")
    if count < 1:
        raise InputError(f"{name} is {shown(count)}; it must be at least 1")
    if count >= 10**MAX_TREES_DIGITS:
        raise InputError(f"{name} has more than {MAX_TREES_DIGITS} digits; ask for fewer")
    return int(count)
