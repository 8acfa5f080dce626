"""A schedule of trees with the greatest guarantee: the algbw that its trees still reach after any single failure.

An allreduce has the trees of an allgather, in both directions, so the network must be its own transpose. Its guarantee
is half of that of the allgather. It is the greatest of such pairs of trees, not of all schedules.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.packed import tree_phases
from forestcoll.solver.optimum import solve
from forestcoll.solver.survival.breaking import Breaking
from forestcoll.solver.survival.left import trees_left
from forestcoll.solver.survival.program import SurvivalProgram, SurvivingTrees
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.topology.failures import PartKind, part_named, parts_of
from forestcoll.topology.graph.walks import unreachable_pair

MOST_PAIRS = 2**16
"""The most pairs of a failure and a compute node."""


@dataclass(frozen=True)
class Survival:
    """What a schedule has after any single failure of one kind.

    Attributes:
        schedule: the schedule, which lists all trees.
        part: what can fail.
        failures: the failures.
        guarantee: the greatest algbw that the trees that are left are known to reach after each failure with the
            bandwidth that they had before.
        is_optimal: whether no schedule has trees with a greater guarantee.
        left_algbw: the least algbw after a failure of the trees that are left, with the bandwidth of the broken ones.
        replanned: the least optimum of the network after a failure, with new trees for each.
    """

    schedule: TreeSchedule
    part: PartKind
    failures: tuple[Change, ...]
    guarantee: Fraction
    is_optimal: bool
    left_algbw: Fraction
    replanned: Fraction

    def left(self) -> Iterator[tuple[Change, TreeSchedule]]:
        """Yield the schedule after each failure: the trees that are left, on the network that is left."""
        whole = self.schedule
        for failure in self.failures:
            yield failure, trees_left(whole, failure, optimum_after(failure, whole.topology, whole.demand).bound)


def surviving_schedule(
    topology: Topology, demand: NodeDemand, part: PartKind | str, bound: Bound, progress: Progress = SILENT
) -> Survival:
    """Return the schedule with the greatest guarantee and, of these, with the greatest algbw.

    Args:
        topology: the network.
        demand: an allgather, a reduce-scatter, a broadcast, a reduce or an allreduce over all compute nodes.
        part: what can fail.
        bound: the bound of the collective on the network.
        progress: receives the stages of the work.

    Raises:
        InputError: the network has no such part, a failure cuts nodes off or takes the root away, there are too many
            failures, or the network of an allreduce is not its own transpose.
        NoSolutionError: the linear program could not be solved exactly.
    """
    progress.begin("computing failures")
    failures = tuple(parts_of(topology, part))
    require_few(topology, len(failures))
    reduces = demand.collective.only_reduces
    outward = topology.transposed() if reduces else topology
    _require_both_ways(topology, demand.collective)
    weights = dict(zip(topology.compute, demand.weights(topology), strict=True))
    program = SurvivalProgram(Breaking(outward, failures), weights, progress)
    first = [failures[place] for place in program.first_failures]
    best = [optimum_after(failure, topology, demand) for failure in first]
    replanned = min(each.algbw for each in best)
    progress.begin("finding trees that survive")
    found = program.solved()
    schedule = _schedule(topology, demand, found, bound)
    guarantee = program.guarantee(found)
    if demand.collective is Collective.ALLREDUCE:
        guarantee /= 2
    is_optimal = found.complete or guarantee == replanned
    left = (trees_left(schedule, failure, each.bound).algbw for failure, each in zip(first, best, strict=True))
    left_algbw = min(each or Fraction(0) for each in left) if guarantee else guarantee
    return Survival(schedule, part_named(part), failures, guarantee, is_optimal, left_algbw, replanned)


def require_few(topology: Topology, failures: int) -> None:
    """Check that a linear program over all failures and roots is not too large.

    Raises:
        InputError: it is.
    """
    pairs = failures * len(topology.compute)
    if pairs > MOST_PAIRS:
        raise InputError(
            f"{topology.name}: {failures:,} failures for {len(topology.compute):,} roots are {pairs:,} conditions, "
            f"{MOST_PAIRS:,} at most; use a smaller network, or another kind of part"
        )


def optimum_after(failure: Change, topology: Topology, demand: NodeDemand) -> TreeOptimum:
    """Return the optimum of the network after a failure, with new trees.

    Raises:
        InputError: nodes that are left cannot all reach each other, or the root is gone.
    """
    left = demand_after(failure, topology, demand)
    if left is None:
        gone = "takes the root away" if demand.root in failure.nodes else "leaves fewer than two compute nodes"
        raise InputError(f"{topology.name}: the failure of {failure.name} {gone}; choose another kind of part")
    network = failure.network(topology)
    if (pair := unreachable_pair(network, network.compute)) is not None:
        one, other = network.ids(pair)
        raise InputError(
            f"{topology.name}: no schedule survives the failure of {failure.name}: {one} cannot reach {other} then; "
            "choose another kind of part"
        )
    return solve(network, left)


def _require_both_ways(topology: Topology, collective: Collective) -> None:
    if collective is Collective.ALLREDUCE and topology.transposed().links != topology.links:
        raise InputError(
            f"{topology.name}: an allreduce that survives failures needs links with the same bandwidth in both "
            "directions; use allgather and reduce-scatter"
        )


def _schedule(topology: Topology, demand: NodeDemand, found: SurvivingTrees, bound: Bound) -> TreeSchedule:
    """Return the schedule with all images of the trees; the trees of a root share its data by their bandwidths."""
    orbits, shards = found.orbits, dict(zip(topology.compute, demand.parts(topology), strict=True))
    whole: dict[int, Fraction] = {}
    for tree in found.trees:
        whole[tree.root] = whole.get(tree.root, Fraction(0)) + tree.weight
    images = orbits.symmetry.order
    factors = {
        root: shards[root] * orbits.node_sizes[orbits.of_node[root]] / (images * weight)
        for root, weight in whole.items()
    }
    trees = [replace(tree, weight=tree.weight * factors[tree.root]) for tree in found.trees]
    routes, phases = tree_phases([(op, trees) for op in _OPS[demand.collective]], Fraction(1))
    symmetry = orbits.symmetry if images > 1 else None
    algbw = loads_along_routes(topology, routes, phases, symmetry).algbw(topology)
    return expanded(
        TreeSchedule(
            topology, demand.collective, routes=routes, phases=phases, algbw=algbw, bound=bound, symmetry=symmetry
        )
    )


_OPS = {
    Collective.ALLGATHER: (PhaseOp.BROADCAST,),
    Collective.BROADCAST: (PhaseOp.BROADCAST,),
    Collective.REDUCE_SCATTER: (PhaseOp.REDUCE,),
    Collective.REDUCE: (PhaseOp.REDUCE,),
    Collective.ALLREDUCE: (PhaseOp.REDUCE, PhaseOp.BROADCAST),
}
