"""The exact optimum of a collective, and the cut that proves it (ForestColl §4, §5.2, §5.5, §5.7).

One search serves all: that of trees whose data flows away from their roots (`optima.spanning`). A collective that
reduces is its dual on the transposed network. An allreduce is two of them, which share the links in the best way
(`allreduce.search`).
"""

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral

from forestcoll.allreduce.search import AllreduceSearch
from forestcoll.collective import Collective, ShardsByNode
from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.exact import MAX_TREES_DIGITS
from forestcoll.optima import spanning
from forestcoll.optima.forest_search import ForestSearch
from forestcoll.optima.group_search import GroupSearch, Search
from forestcoll.optima.scaling import require_all_ports
from forestcoll.optima.unbalanced import UnbalancedSearch
from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.request import Demand
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.part import part_without, usable_part
from forestcoll.topology.reach import unreachable_pair


def optimum(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of `collective` on `topology`; of an allreduce, what its two forests reach, and a bound.

    Without `trees` or `max_trees`, k is the fewest trees per root that reach the optimum.

    Args:
        topology: the network. Where switches take in more than they give out, or less, the optimum is that of their
            largest balanced use, which may be below the bound (`optima.unbalanced`).
        collective: the operation.
        ranks: which compute nodes take part, as `ranks_of` takes them: positions or ids, or a text such as `0-7,16-23`;
            all if there are none. Idle ones serve as relays.
        root: of a broadcast or a reduce, the compute node that data comes from or goes to: its id or its position.
        shards: of an allgather or a reduce-scatter, what part of the data each compute node has: numbers by node ids,
            0 for those left out, 1 together; equal parts if there are none.
        trees: ask for exactly this many trees per root, and the best bandwidth that they allow.
        max_trees: ask for the best number of trees per root from 1 to this; the smallest of equally good ones, so
            none beyond the first that reaches the optimum is tried.
        progress: is told of stages.

    Raises:
        InputError: `trees` or `max_trees` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or both are given;
            or the collective, the ranks, the root or the shards are not right, or one that takes part cannot reach
            another.
        NoSolutionError: the topology is one-port, a switch becomes unbalanced for good when bandwidths are rounded to
            `trees`, or how unbalanced ones can be used could not be computed exactly.
    """
    trees, max_trees = _counts(trees, max_trees)
    require_all_ports(topology)
    search = _search(topology, Demand.of(topology, collective, root, shards, ranks), progress)
    return _asked(search, trees, max_trees, progress)


def _asked(search: Search, trees: int | None, max_trees: int | None, progress: Progress) -> Optimum:
    if trees is not None:
        progress.begin("finding the best bandwidth for the number of trees")
        return search.restricted(trees, progress)
    if max_trees is not None:
        return best_of(spanning.by_trees(search.best, search.restricted, max_trees, progress))
    return search.best


def optima_by_trees(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    most: int,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    progress: Progress = SILENT,
) -> tuple[Optimum, ...]:
    """Return what each number of trees per root from 1 to `most` allows, without those that cannot be had.

    The last is the first that reaches the optimum, where one does: more trees add nothing.

    Raises:
        InputError: `most` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or what is asked is not right.
        NoSolutionError: the topology is one-port, how unbalanced switches can be used could not be computed exactly, or
            none of the numbers can be had.
    """
    most = _count("max_trees", most)
    require_all_ports(topology)
    search = _search(topology, Demand.of(topology, collective, root, shards, ranks), progress)
    return spanning.by_trees(search.best, search.restricted, most, progress)


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
        return _asked(_search(bare, replace(best.demand, ranks=None), progress), trees, max_trees, progress)
    except NoSolutionError:
        return None


def best_of(candidates: Iterable[Optimum]) -> Optimum:
    """Return the candidate with the greatest algbw; the first of equally good ones."""
    return max(candidates, key=lambda candidate: candidate.algbw)


def _search(topology: Topology, demand: Demand, progress: Progress) -> Search:
    part = usable_part(topology, demand.members(topology))
    search = _search_on(part, replace(demand, ranks=None), progress)
    return search if part is topology and demand.ranks is None else GroupSearch(topology, demand.ranks, search)


def _search_on(topology: Topology, demand: Demand, progress: Progress) -> Search:
    """Return the search on a network whose compute nodes all take part."""
    if demand.collective is Collective.ALLREDUCE:
        search = AllreduceSearch.of(topology, progress)
        search.remark(progress)
        return search
    if topology.has_balanced_switches:
        return ForestSearch.of(topology, demand, progress)
    return UnbalancedSearch.of(topology, demand, progress)


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
