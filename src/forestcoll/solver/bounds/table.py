"""Collects the bounds of a network. `bounds.values` defines them, and `solver` computes the bound of each collective.

The bounds come from the same search as those of `optimum` and `generate`. In addition, this module finds the best and
the worst root of broadcast and reduce, the rate of allreduce with its bounds, and the bound of an all-to-all.
"""

from fractions import Fraction

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import RanksLike, ranks_of, require_reach, root_number
from forestcoll.demand.texts import DemandLike, bound_on
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.receipt import ReceiptProof
from forestcoll.solver.allreduce import linear_program
from forestcoll.solver.allreduce.linear_program import AllreduceOptimum, allreduce_optimum
from forestcoll.solver.allreduce.search import AllreduceSearch, bound_without_programs
from forestcoll.solver.bounds.cut_edge import cut_edge
from forestcoll.solver.bounds.latency import latency_bound
from forestcoll.solver.bounds.values import AllreduceRate, Bounds, CollectiveBound
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.flows.value import FlowOptimum
from forestcoll.solver.forests.broadcast import RootedBound, broadcast_bounds, reduce_bounds
from forestcoll.solver.forests.forest_search import exit_bound
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.optimum import solve
from forestcoll.solver.personalised import solve_flows
from forestcoll.solver.problem import OptimumProblem, on_whole
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.graph.part import usable_part, widened
from forestcoll.topology.registry import load_topology
from forestcoll.topology.symmetry.orbits import Orbits

_ORDER = (
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.BROADCAST,
    Collective.REDUCE,
    Collective.ALLREDUCE,
    Collective.ALL_TO_ALL,
)
"""The rows of the table, in order: collectives with one forest, with two forests, with flows."""


def bounds(
    topology: TopologyLike,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    progress: Progress = SILENT,
) -> Bounds:
    """Return the bounds of every collective on `topology`, with their proofs.

    Args:
        topology: the network, as for `optimum`. Its switches may be unbalanced.
        ranks: the compute nodes that take part, as for `optimum`; all if None.
        root: the root of broadcast and reduce: the id of a compute node or, if no node has that id, its position among
            the compute nodes. If None, each has its best root.
        progress: receives the stages of the work.

    Returns:
        The bounds. Bandwidths are in the unit of the topology. Each bound is that of `optimum` for the same collective.

    Raises:
        InputError: `root` is not a compute node or not among the ranks, or the ranks are not valid.
        NoSolutionError: the topology is one-port.

    Example:
        >>> from forestcoll import bounds
        >>> [f"{each.collective} {each.upper_algbw}" for each in bounds("ring:nodes=4").collectives[:3]]
        ['allgather 8/3', 'reduce-scatter 8/3', 'broadcast 2']
    """
    network = load_topology(topology, connected=ranks is None)
    require_all_ports(network)
    members = ranks_of(network, ranks)
    number = None if root is None else root_number(network, root, members)
    require_reach(network, members)
    return _Collector(network, members, number, progress).collect()


def bound_of(topology: TopologyLike, demand: DemandLike, *, progress: Progress = SILENT) -> CollectiveBound:
    """Return the bound of one collective on `topology`, with its proof.

    Args:
        topology: the network, as for `optimum`.
        demand: the collective and its parameters.
        progress: receives the stages of the work.

    Returns:
        The bound. Bandwidths are in the unit of the topology.

    Raises:
        InputError: see `optimum`.
        NoSolutionError: see `optimum`.

    Example:
        >>> from forestcoll import Demand
        >>> from forestcoll.solver import bound_of
        >>> str(bound_of("ring:nodes=4", Demand("scatter", root=0)).upper_algbw)
        '8/3'
    """
    network, bound = bound_on(topology, demand)
    if bound.collective.is_personalised:
        return flow_bound(solve_flows(network, bound, progress=progress))
    best = solve(network, bound, progress=progress)
    factor = best.collective.busbw_factor(len(best.members))
    return CollectiveBound(best.bound, factor, best.algbw, best.is_optimal, best.root)


class _Collector:
    """Collects the bounds of one network."""

    def __init__(self, topology: Topology, ranks: tuple[int, ...] | None, root: int | None, progress: Progress) -> None:
        self._topology, self._ranks, self._progress = topology, ranks, progress
        self._members = NodeDemand(ranks=ranks).members(topology)
        self._part = usable_part(topology, self._members)
        self._given_root = root
        self._found: dict[Collective, CollectiveBound] = {}
        self._too_large: dict[Collective, str] = {}

    def collect(self) -> Bounds:
        roots = self._roots()
        self._progress.begin("looking for a symmetry")
        orbits = Orbits.of(self._part)
        search: AllreduceSearch | None = None
        for collective in SCHEDULED:
            problem = self._solve(collective, self._root(collective, roots), orbits)
            if problem is not None and isinstance(problem.search, AllreduceSearch):
                search = problem.search
        rate = self._allreduce_rate(orbits, search)
        self._all_to_all(orbits)
        return Bounds(
            topology=self._topology,
            collectives=tuple(self._found[each] for each in _ORDER if each in self._found),
            allreduce_rate=rate,
            latency=latency_bound(self._topology, self._ranks),
            roots=roots,
            too_large=self._too_large,
            ranks=self._ranks,
        )

    def _roots(self) -> dict[Collective, tuple[RootedBound, RootedBound]]:
        """Return the bounds of the worst and the best root of a broadcast and of a reduce."""
        self._progress.begin("finding the best root of a broadcast")
        broadcasts = broadcast_bounds(self._part, self._progress)
        self._progress.begin("finding the best root of a reduce")
        return {Collective.BROADCAST: broadcasts, Collective.REDUCE: reduce_bounds(self._part, self._progress)}

    def _root(self, collective: Collective, roots: dict[Collective, tuple[RootedBound, RootedBound]]) -> int | None:
        """Return the given root or, without one, the best root; None if the collective has no root."""
        if not collective.has_root:
            return None
        return roots[collective][1].root if self._given_root is None else self._given_root

    def _solve(self, collective: Collective, root: int | None, orbits: Orbits) -> OptimumProblem | None:
        """Record the bound and the reached algbw of a collective; return its problem, or None if it has no solution."""
        demand = NodeDemand(collective, root, None, self._ranks)
        try:
            problem = OptimumProblem.of(self._topology, demand, self._progress, orbits)
            achieved = problem.solve(progress=self._progress).algbw
        except NoSolutionError:
            self._note(self._simple_bound(demand), None, root)
            return None
        self._note(problem.bound, achieved, root)
        return problem

    def _note(self, bound: Bound, achieved: Fraction | None, root: int | None) -> None:
        factor = bound.collective.busbw_factor(len(self._members))
        self._found[bound.collective] = CollectiveBound(bound, factor, achieved, achieved == bound.algbw, root)

    def _simple_bound(self, demand: NodeDemand) -> Bound:
        """Return the bound that needs no linear program."""
        if demand.collective is Collective.ALLREDUCE:
            bound, _ = bound_without_programs(self._part, self._progress)
        else:
            bound = exit_bound(self._part, NodeDemand(demand.collective, demand.root), self._progress)
        return on_whole(self._topology, self._members, bound)

    def _allreduce_rate(self, orbits: Orbits, search: AllreduceSearch | None) -> AllreduceRate:
        found = None if search is None else search.plain
        found = found or self._allreduce_program(orbits)
        plan = None if found is None else found.plan
        halves = self._one_after_the_other()
        lower = halves if plan is None else plan.rate
        exact = found is not None and found.exact
        cut_set = self._cut_set(search)
        return AllreduceRate(
            cut_set_upper=cut_set,
            tree_lower=lower,
            corollary_upper=self._receipt(),
            one_after_the_other=halves,
            equal_roots=None if plan is None else self._equal_roots(orbits, plan.rate, halves),
            exact=exact,
            plan=plan,
            linear_upper=self._linear_bound(cut_set.algbw, lower if exact else None),
            greatest_factor=2 - Fraction(2, len(self._members)) if self._part.has_balanced_switches else None,
            cut_edge=cut_edge(self._part, lower) if lower == cut_set.algbw else None,
        )

    def _linear_bound(self, cut_set: Fraction, along_trees: Fraction | None) -> Fraction:
        """Return a bound of linear codes (docs/evidence/allreduce-proofs.md).

        If no switch or idle node can copy or add up, Corollary 2.1 bounds linear codes too, and linear codes on
        full-duplex networks and on one-way circles are not faster than trees.
        """
        if self._part.able_switches:
            return cut_set
        is_circle = not self._part.switches and len(self._part.links) == len(self._members)
        if along_trees is not None and (is_circle or self._part.is_full_duplex):
            return along_trees
        return min(cut_set, self._receipt())

    def _receipt(self) -> Fraction:
        """Return the bound of Corollary 2.1 for trees, which holds if only nodes that take part copy or add up."""
        receipt = ReceiptProof()
        return receipt.bandwidth(self._part) / receipt.times(self._part)

    def _cut_set(self, search: AllreduceSearch | None) -> Bound:
        """Return the bound of the least exit bandwidth of a set with some but not all members (Theorem 1)."""
        cut = bound_without_programs(self._part, self._progress)[1] if search is None else search.cut
        proof = CutProof(widened(self._topology, self._members, cut))
        demand = NodeDemand(Collective.ALLREDUCE, ranks=self._ranks)
        return Bound(Collective.ALLREDUCE, proof.algbw(self._topology, demand), proof)

    def _allreduce_program(self, orbits: Orbits) -> AllreduceOptimum | None:
        needed = linear_program.columns_needed(self._part, orbits)
        if needed > linear_program.MOST_COLUMNS:
            self._too_large[Collective.ALLREDUCE] = _refusal(needed, linear_program.MOST_COLUMNS)
            return None
        return allreduce_optimum(self._part, orbits=orbits, progress=self._progress)

    def _equal_roots(self, orbits: Orbits, best: Fraction, halves: Fraction | None) -> Fraction | None:
        """Return the rate of equal roots, which is at least `halves` and at most `best`."""
        if halves == best or self._part.is_full_duplex:  # then roots are free: see `roots_are_free`
            return best
        plan = allreduce_optimum(self._part, equal_roots=True, orbits=orbits, progress=self._progress).plan
        return None if plan is None else plan.rate

    def _one_after_the_other(self) -> Fraction | None:
        """Return the rate of a reduce-scatter and then an allgather; None if they may not reach their bounds."""
        if not self._part.has_balanced_switches:
            return None
        pair = (self._found[Collective.ALLGATHER].upper_algbw, self._found[Collective.REDUCE_SCATTER].upper_algbw)
        return pair[0] * pair[1] / (pair[0] + pair[1])

    def _all_to_all(self, orbits: Orbits) -> None:
        try:
            demand = NodeDemand(Collective.ALL_TO_ALL, ranks=self._ranks)
            found = flow_search(self._topology, demand, self._progress, orbits, paths=False)
        except InputError as error:  # too large
            self._too_large[Collective.ALL_TO_ALL] = str(error).removeprefix(f"{self._topology.name}: ")
            return
        self._found[Collective.ALL_TO_ALL] = flow_bound(found)


def flow_bound(found: FlowOptimum) -> CollectiveBound:
    """Return the row of an all-to-all, a gather or a scatter."""
    factor = found.collective.busbw_factor(len(found.members))
    return CollectiveBound(
        found.bound,
        factor,
        found.algbw if found.is_reached else None,
        found.is_optimal,
        found.root,
        found.residual,
        found.demand.matrix,
    )


def _refusal(needed: int, most: int) -> str:
    return f"its linear program has {needed:,} columns; at most {most:,} can be solved within minutes"
