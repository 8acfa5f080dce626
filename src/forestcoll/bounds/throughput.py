"""The exact optimum of a collective, and the cut that proves it (ForestColl §4, §5.2, §5.5, §5.7).

One search serves all: that of trees whose data flows away from their roots (`bounds.spanning`). A collective that
reduces is its dual on the transposed network. An allreduce is two of them, which share the links in the best way
(`bounds.allreduce_forests`).
"""

from collections.abc import Iterable
from numbers import Integral

from forestcoll.bounds import spanning
from forestcoll.bounds.allreduce_forests import AllreduceSearch
from forestcoll.bounds.demand import Demand
from forestcoll.bounds.enlisting import EnlistedSearch
from forestcoll.bounds.forest_search import ForestSearch
from forestcoll.bounds.optimum import Optimum
from forestcoll.bounds.scaling import require_all_ports, require_balanced_switches
from forestcoll.collective import Collective, ShardsByNode
from forestcoll.errors import InputError, shown
from forestcoll.exact import MAX_TREES_DIGITS
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import NodeId, Topology


def optimum(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    trees: int | None = None,
    max_trees: int | None = None,
    progress: Progress = SILENT,
) -> Optimum:
    """Return the exact optimum of `collective` on `topology`; of an allreduce, what its two forests reach, and a bound.

    Without `trees` or `max_trees`, k is the fewest trees per root that reach the optimum.

    Args:
        topology: the network; its switches must take in as much as they give out.
        collective: the operation.
        root: of a broadcast or a reduce, the id of the compute node that data comes from or goes to.
        shards: of an allgather or a reduce-scatter, what part of the data each compute node has: numbers by node ids,
            0 for those left out, 1 together; equal parts if there are none.
        trees: ask for exactly this many trees per root, and the best bandwidth that they allow.
        max_trees: ask for the best number of trees per root from 1 to this; the smallest of equally good ones, so
            none beyond the first that reaches the optimum is tried.
        progress: is told of stages.

    Raises:
        InputError: `trees` or `max_trees` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or both are given;
            or the collective, the root or the shards are not right.
        NoSolutionError: the topology is one-port, or a switch is not balanced or becomes so when bandwidths are rounded
            to `trees`.
    """
    trees, max_trees = _counts(trees, max_trees)
    search = _search(topology, Demand.of(topology, collective, root, shards), progress)
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
    root: NodeId | None = None,
    shards: ShardsByNode | None = None,
    progress: Progress = SILENT,
) -> tuple[Optimum, ...]:
    """Return what each number of trees per root from 1 to `most` allows, without those that cannot be had.

    The last is the first that reaches the optimum, where one does: more trees add nothing.

    Raises:
        InputError: `most` is less than 1 or has more than `MAX_TREES_DIGITS` digits, or what is asked is not right.
        NoSolutionError: the topology is one-port, a switch is not balanced, or none of the numbers can be had.
    """
    most = _count("max_trees", most)
    search = _search(topology, Demand.of(topology, collective, root, shards), progress)
    return spanning.by_trees(search.best, search.restricted, most, progress)


def best_of(candidates: Iterable[Optimum]) -> Optimum:
    """Return the candidate with the greatest algbw; the first of equally good ones."""
    return max(candidates, key=lambda candidate: candidate.algbw)


def _search(topology: Topology, demand: Demand, progress: Progress) -> ForestSearch | EnlistedSearch | AllreduceSearch:
    require_all_ports(topology)
    if demand.collective is Collective.ALLREDUCE:
        search = AllreduceSearch.of(topology, progress)
        search.remark(progress)
        return search
    if not topology.has_balanced_switches and topology.able_switches:
        enlisted = EnlistedSearch.of(topology, demand, progress)
        if enlisted is not None:
            return enlisted
    require_balanced_switches(topology)
    return ForestSearch.of(topology, demand, progress)


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
