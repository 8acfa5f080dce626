"""The exact optimum of a collective, and the cut that proves it (ForestColl §4, §5.2, §5.5, §5.7).

One search serves all: that of trees whose data flows away from their roots (`bounds.spanning`). A collective that
reduces is its dual on the transposed network. An allreduce is a reduce-scatter and an allgather on the same links: at
their bandwidths a and a' it takes 1/a + 1/a' of the time per unit of data, whatever else the links could do together.
Its bound is the least exit bandwidth of a set of nodes with some but not all compute nodes: of the vectors inside, all
of their sum must leave the set.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral

from forestcoll.bounds import spanning
from forestcoll.bounds.demand import Demand
from forestcoll.bounds.optimum import Optimum
from forestcoll.bounds.relays import best_use
from forestcoll.bounds.scaling import ScaledTopology, require_all_ports, unbalanced_switch
from forestcoll.collective import Collective, ShardsByNode
from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.exact import MAX_TREES_DIGITS
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.part import part_without, usable_part, widened
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
            largest balanced use, which may be below the bound (`bounds.balancing`).
        collective: the operation.
        ranks: which compute nodes take part, by their places among all from 0: integers, or a text such as
            `0-7,16-23`; all if there are none. Idle ones serve as relays.
        root: of a broadcast or a reduce, the id of the compute node that data comes from or goes to.
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
    search = _search(topology, Demand.of(topology, collective, root, shards, ranks), progress)
    return _asked(search, trees, max_trees, progress)


def _asked(search: "_Forest | _Pair", trees: int | None, max_trees: int | None, progress: Progress) -> Optimum:
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


@dataclass(frozen=True)
class _Forest:
    """The search for one forest.

    Attributes:
        scaled: the network that trees may use, all its switches balanced, its links turned round where data is reduced.
        found: the optimum of out-trees on it.
        whole: the whole network, turned round likewise.
        bound: algbw that no schedule on the whole network can beat, and the cut that proves it, where that may be more
            than the optimum on what can be used.
    """

    scaled: ScaledTopology
    found: Optimum
    whole: Topology
    bound: tuple[Fraction, tuple[int, ...]] | None = None

    @property
    def best(self) -> Optimum:
        return self._turned(self.found)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        spanning.remark_on_trees(self.scaled, self.found, trees, progress)
        return self._turned(spanning.with_trees(self.scaled, self.found, trees))

    def _turned(self, found: Optimum) -> Optimum:
        used = self.scaled.topology
        lifted = replace(found, topology=self.whole, part=None if used is self.whole else used)
        optimal, cut = self.bound or (found.optimal_algbw, found.cut)
        usable = None if self.bound is None else found.optimal_algbw
        if used is not self.whole:
            cut = widened(self.whole, lifted.members, cut)
        lifted = replace(lifted, optimal_algbw=optimal, cut=cut, usable_algbw=usable)
        return lifted.transposed() if self.scaled.backwards else lifted


@dataclass(frozen=True)
class _Pair:
    """The search for the two forests of an allreduce, and the cut that bounds them together."""

    phases: tuple[_Forest, _Forest]
    part: Topology
    bound: Fraction
    cut: tuple[int, ...]

    @property
    def best(self) -> Optimum:
        return self._paired(*(phase.best for phase in self.phases))

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        return self._paired(*(phase.restricted(trees, progress) for phase in self.phases))

    def _paired(self, reduces: Optimum, gathers: Optimum) -> Optimum:
        algbw = 1 / (1 / reduces.algbw + 1 / gathers.algbw)
        trees = max(reduces.trees_per_root, gathers.trees_per_root)
        return Optimum(
            topology=gathers.topology,
            collective=Collective.ALLREDUCE,
            algbw=algbw,
            trees_per_root=trees,
            tree_bandwidth=algbw / (sum(gathers.weights) * trees),
            optimal_algbw=self.bound,
            cut=self.cut,
            phases=(reduces, gathers),
            ranks=gathers.ranks,
            part=None if self.part is gathers.topology else self.part,
        )


def _search(topology: Topology, demand: Demand, progress: Progress) -> _Forest | _Pair:
    require_all_ports(topology)
    part = usable_part(topology, demand.members(topology))
    if demand.collective is not Collective.ALLREDUCE:
        return _forest(topology, part, demand, progress)
    gathers = _forest(topology, part, replace(demand, collective=Collective.ALLGATHER), progress)
    if is_its_own_transpose(part):
        back = part.transposed()
        scaled = replace(gathers.scaled, topology=back, backwards=True)
        whole = back if part is topology else topology.transposed()
        reduces = _Forest(scaled, replace(gathers.found, topology=back), whole)
    else:
        reduces = _forest(topology, part, replace(demand, collective=Collective.REDUCE_SCATTER), progress)
    bound, cut = _least_exit(part, progress)
    return _Pair((reduces, gathers), part, bound, cut if part is topology else widened(topology, part.compute, cut))


def _forest(whole: Topology, part: Topology, demand: Demand, progress: Progress) -> _Forest:
    """Return the search for a forest on `part` of the `whole` network."""
    backwards = demand.collective.only_reduces
    if backwards:
        is_all = part is whole
        part, demand = part.transposed(), replace(demand, collective=demand.collective.dual)
        whole = part if is_all else whole.transposed()
    scaled = ScaledTopology.of(part, demand.weights(part), backwards=backwards)
    if unbalanced_switch(part, scaled.capacities) is None:
        return _Forest(scaled, spanning.unrestricted(scaled, demand, progress), whole)
    ratio, cut = spanning.bottleneck(scaled, progress)
    relays = set(whole.compute).difference(part.compute)
    used = best_use(part, demand, sorted(relays), scaled.unit / ratio, progress)
    balanced = ScaledTopology.of(used, demand.weights(used), backwards=backwards)
    found = spanning.unrestricted(balanced, demand, progress)
    return _Forest(balanced, found, whole, (scaled.whole * scaled.unit / ratio, cut))


def is_its_own_transpose(topology: Topology) -> bool:
    """Return whether each link has one of the same bandwidth back: then what flows can flow backwards as well."""
    bandwidths = {(link.source, link.target): link.bandwidth for link in topology.links}
    return all(bandwidths.get((target, source)) == each for (source, target), each in bandwidths.items())


def _least_exit(topology: Topology, progress: Progress) -> tuple[Fraction, tuple[int, ...]]:
    """Return the least exit bandwidth of a set with some but not all compute nodes, and the set.

    It holds the first compute node, and bounds a broadcast from it, or it does not, and bounds a reduce to it.
    """
    first = topology.compute[0]
    ways = [Collective.BROADCAST] if is_its_own_transpose(topology) else [Collective.BROADCAST, Collective.REDUCE]
    found = [_bound(topology, Demand(way, first), progress) for way in ways]
    return min(found, key=lambda each: each[0])


def _bound(topology: Topology, demand: Demand, progress: Progress) -> tuple[Fraction, tuple[int, ...]]:
    weights, backwards = demand.weights(topology), demand.collective.only_reduces
    scaled = ScaledTopology.of(topology.transposed() if backwards else topology, weights, backwards=backwards)
    ratio, cut = spanning.bottleneck(scaled, progress)
    if backwards:
        inside = set(cut)
        cut = tuple(node for node in range(len(topology.nodes)) if node not in inside)
    return scaled.whole * scaled.unit / ratio, cut


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
