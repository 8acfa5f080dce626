"""Collects the bounds of a network: `limits` says what they mean, the modules beside it how each is found."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.allreduce import program as allreduce
from forestcoll.allreduce.program import AllreduceOptimum, allreduce_optimum
from forestcoll.allreduce.search import AllreduceSearch
from forestcoll.bounds import all_to_all
from forestcoll.bounds.all_to_all import all_to_all_rate
from forestcoll.bounds.latency import latency_bound
from forestcoll.bounds.limits import (
    AllreduceRate,
    Bounds,
    CollectiveBound,
    CutLimit,
    Limit,
    Operation,
    ProgramLimit,
    ReceiptLimit,
    receipt_limit,
)
from forestcoll.collective import Collective
from forestcoll.errors import NoSolutionError
from forestcoll.optima.rooted import RootedBound, broadcast_bound, broadcast_bounds, reduce_bound, reduce_bounds
from forestcoll.optima.scaling import ScaledTopology, require_all_ports, unbalanced_switch
from forestcoll.optima.unbalanced import UnbalancedSearch
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.tree_dual import Roles
from forestcoll.ranks import RanksLike, members_of, ranks_of, require_reach, root_number
from forestcoll.request import Demand
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.orbits import Orbits
from forestcoll.topology.part import relayed

_Limits = dict[Operation, Limit]

_ROOTED = (Operation.BROADCAST, Operation.REDUCE)


def bounds_of(
    topology: Topology,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    progress: Progress = SILENT,
) -> Bounds:
    """Return what no schedule on `topology` can beat, collective by collective, with what proves it.

    Args:
        topology: the network. Its switches may take in more or less than they give out; then bounds of allgather,
            reduce-scatter, broadcast and reduce hold but need not be reached.
        ranks: which compute nodes take part, as `solver.optimum` takes them; all if there are none.
        root: the compute node that broadcast and reduce are bounded for, by its id or, where no node has that id, its
            position among the compute nodes; the best one for each if None.
        progress: is told of stages.

    Raises:
        InputError: `root` is no compute node or not among the ranks, or the ranks are not right.
        NoSolutionError: the topology is one-port.
    """
    require_all_ports(topology)
    members = ranks_of(topology, ranks)
    number = None if root is None else root_number(topology, root, members)
    require_reach(topology, members)
    found = _Collector(relayed(topology, members_of(topology, members)), number, progress).collect()
    return replace(found, latency=latency_bound(topology, members), ranks=members, nodes=len(topology.compute))


class _Collector:
    """The bounds of one network while they are found."""

    def __init__(self, topology: Topology, root: int | None, progress: Progress) -> None:
        self._topology, self._progress = topology, progress
        self._scaled = ScaledTopology.of(topology)
        self._balanced = unbalanced_switch(topology, self._scaled.capacities) is None
        self._search: AllreduceSearch | None = None
        self._limits: _Limits = {}
        self._tight: dict[Operation, bool] = {}
        self._too_large: dict[Operation, str] = {}
        self._extremes: dict[Operation, tuple[RootedBound, RootedBound]] = {}
        self._root = dict.fromkeys(_ROOTED, root)

    def collect(self) -> Bounds:
        self._gather()
        self._reach_out()
        self._progress.begin("looking for a symmetry")
        orbits = Orbits.of(self._topology)
        rate = self._allreduce(orbits)
        self._all_to_all(orbits)
        collectives = tuple(self._bound(each) for each in Operation if each in self._limits)
        latency = latency_bound(self._topology)
        return Bounds(self._topology, collectives, rate, latency, self._extremes, self._too_large)

    def _bound(self, operation: Operation) -> CollectiveBound:
        achieved = self._achieved(operation)
        return CollectiveBound(
            operation=operation,
            limit=self._limits[operation],
            busbw_factor=_busbw_factor(operation, len(self._topology.compute)),
            achieved_algbw=achieved,
            tight=self._tight[operation] or achieved == self._limits[operation].algbw,
            root=self._root.get(operation),
        )

    def _achieved(self, operation: Operation) -> Fraction | None:
        """Return what `generate` reaches, None where it makes no schedule."""
        if operation is Operation.ALLREDUCE:
            return None if self._search is None else self._search.best.algbw
        if operation is Operation.ALL_TO_ALL:
            return None
        return self._limits[operation].algbw if self._balanced else self._achieved_unbalanced(operation)

    def _achieved_unbalanced(self, operation: Operation) -> Fraction | None:
        """Return what is found for a collective where switches are not balanced, None where that is refused."""
        root = self._root.get(operation)
        asked = Demand(Collective(operation.value), root)
        try:
            return UnbalancedSearch.of(self._topology, asked, self._progress).best.algbw
        except NoSolutionError:
            return None

    def _set(self, operation: Operation, limit: Limit, *, tight: bool) -> None:
        self._limits[operation], self._tight[operation] = limit, tight

    def _gather(self) -> None:
        self._progress.begin("finding the bottleneck cuts")
        everything = set(range(len(self._topology.nodes)))
        leaving = _bottleneck(self._scaled, self._progress)
        entering = everything - _bottleneck(ScaledTopology.of(self._topology.transposed()), self._progress)
        self._set(Operation.ALLGATHER, self._cut(leaving, self._share(leaving)), tight=self._balanced)
        self._set(Operation.REDUCE_SCATTER, self._cut(entering, 1 - self._share(entering)), tight=self._balanced)

    def _share(self, inside: set[int]) -> Fraction:
        return Fraction(len(inside.intersection(self._topology.compute)), len(self._topology.compute))

    def _cut(self, inside: set[int], share: Fraction) -> CutLimit:
        leaving = (link for link in self._topology.links if link.source in inside and link.target not in inside)
        return CutLimit(tuple(sorted(inside)), share, sum((link.bandwidth for link in leaving), Fraction(0)))

    def _reach_out(self) -> None:
        """Bound broadcast and reduce, from the root asked for or else the best."""
        self._progress.begin("finding the best root of a broadcast")
        self._extremes[Operation.BROADCAST] = broadcast_bounds(self._topology, self._progress)
        self._progress.begin("finding the best root of a reduce")
        self._extremes[Operation.REDUCE] = reduce_bounds(self._topology, self._progress)
        for operation, bound in zip(_ROOTED, (broadcast_bound, reduce_bound), strict=True):
            asked = self._root[operation]
            found = self._extremes[operation][1] if asked is None else bound(self._topology, asked)
            self._root[operation] = found.root
            self._set(operation, self._cut(set(found.cut), Fraction(1)), tight=self._balanced)

    def _allreduce(self, orbits: Orbits) -> AllreduceRate:
        worst = self._extremes[Operation.BROADCAST][0]
        cut_set = self._cut(set(worst.cut), Fraction(1))
        corollary = receipt_limit(self._topology)
        self._search = self._allreduce_search(orbits)
        found = None if self._search is None else self._search.plain
        found = found or self._allreduce_program(orbits, Roles.of(self._topology))
        plan = None if found is None else found.plan
        halves = self._one_after_the_other()
        lower = halves if plan is None else plan.rate
        equal = None if plan is None else self._equal_roots(orbits, plan.rate, halves)
        self._bound_allreduce(orbits, found, cut_set, corollary)
        return AllreduceRate(cut_set, lower, corollary, halves, equal, found is not None and found.exact, plan)

    def _allreduce_search(self, orbits: Orbits) -> AllreduceSearch | None:
        """Return the search for what `generate` reaches, None where it refuses the network."""
        try:
            return AllreduceSearch.of(self._topology, self._progress, orbits)
        except NoSolutionError:
            return None

    def _allreduce_program(self, orbits: Orbits, roles: Roles) -> AllreduceOptimum | None:
        needed = allreduce.columns_needed(self._topology, orbits)
        if needed > allreduce.MOST_COLUMNS:
            self._too_large[Operation.ALLREDUCE] = _refusal(needed, allreduce.MOST_COLUMNS)
            return None
        return allreduce_optimum(self._topology, roles, orbits=orbits, progress=self._progress)

    def _bound_allreduce(
        self, orbits: Orbits, found: AllreduceOptimum | None, cut_set: CutLimit, corollary: ReceiptLimit
    ) -> None:
        """Take the least of what bounds an allreduce here, the simplest of equals."""
        candidates: list[Limit] = [cut_set]
        if self._topology.able_switches:
            found = None if self._search is None else self._search.in_network
            found = found or self._allreduce_program(orbits, Roles.in_network(self._topology))
        else:
            candidates.append(corollary)
        if found is not None:
            candidates.append(ProgramLimit(found, found.upper))
        best = min(candidates, key=lambda each: each.algbw)
        self._set(Operation.ALLREDUCE, best, tight=self._achieved(Operation.ALLREDUCE) == best.algbw)

    def _equal_roots(self, orbits: Orbits, best: Fraction, halves: Fraction | None) -> Fraction | None:
        """Return what equal roots reach, of which one after the other is the least and `best` the most."""
        if halves == best:
            return best
        plan = allreduce_optimum(self._topology, equal_roots=True, orbits=orbits, progress=self._progress).plan
        return None if plan is None else plan.rate

    def _one_after_the_other(self) -> Fraction | None:
        """Return what a reduce-scatter and then an allgather reach, or None where they may not reach their optima."""
        if not self._balanced:
            return None
        gather, scatter = self._limits[Operation.ALLGATHER].algbw, self._limits[Operation.REDUCE_SCATTER].algbw
        return gather * scatter / (gather + scatter)

    def _all_to_all(self, orbits: Orbits) -> None:
        needed = all_to_all.columns_needed(self._topology, orbits)
        if needed > all_to_all.MOST_COLUMNS and len(self._topology.compute) > all_to_all.MOST_SPREAD:
            self._too_large[Operation.ALL_TO_ALL] = _refusal(needed, all_to_all.MOST_COLUMNS)
            return
        found = all_to_all_rate(self._topology, orbits=orbits, progress=self._progress)
        algbw = len(self._topology.compute) * found.pair_rate
        self._set(Operation.ALL_TO_ALL, ProgramLimit(found, algbw), tight=found.exact)


def _bottleneck(scaled: ScaledTopology, progress: Progress) -> set[int]:
    """Return the set S that misses a compute node with the most compute nodes for its exit bandwidth (§4)."""
    bound = len(scaled.topology.compute) * scaled.total
    scaled.remark_on_width(bound, progress)
    core, problem = scaled.problem(scaled.capacities, bound)
    return set(core.bottleneck(problem, progress.advance)[2])


def _busbw_factor(operation: Operation, nodes: int) -> Fraction:
    """Return busbw by algbw, as nccl-tests defines both."""
    if operation in _ROOTED:
        return Fraction(1)
    return Fraction(nodes - 1, nodes) * (2 if operation is Operation.ALLREDUCE else 1)


def _refusal(needed: int, most: int) -> str:
    return f"its linear program has {needed:,} columns, and {most:,} are what can be solved in minutes"
