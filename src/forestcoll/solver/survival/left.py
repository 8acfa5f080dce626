"""What a failure leaves of a schedule of trees: its unbroken trees, which share the data of the broken ones."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.solver.generation.packed import tree_phases
from forestcoll.solver.survival.breaking import Breaking, without_nodes
from forestcoll.topology.changes import Change


def trees_left(schedule: TreeSchedule, failure: Change, bound: Bound) -> TreeSchedule:
    """Return the schedule on the network after a failure whose trees are those that it does not break.

    The trees keep their routes. The shares of the trees of one root grow by the same factor, so that they carry all of
    its data again. No node needs another connection.

    Args:
        schedule: the schedule on the whole network.
        failure: links or nodes that are gone.
        bound: the bound on the changed network.

    Raises:
        InputError: the failure breaks all trees of a root.
    """
    whole = expanded(schedule)
    network, demand = failure.network(whole.topology), demand_after(failure, whole.topology, whole.demand)
    if demand is None:
        raise AssertionError("a failure with a bound leaves a demand")
    place = {node: place for place, node in enumerate(failure.kept(whole.topology))}
    members = demand.members(network)
    shards = dict(zip(members, demand.parts(network), strict=True))
    phases = []
    for phase in whole.phases:
        kept = [_renumbered(tree, place) for tree in _kept(whole, phase, failure)]
        left = dict.fromkeys(members, Fraction(0))
        for tree in kept:
            left[tree.root] += tree.weight
        lost = next((node for node in members if shards[node] and not left[node]), None)
        if lost is not None:
            raise InputError(
                f"{whole.topology.name}: {failure.name} breaks all trees of {network.nodes[lost].id}; generate the "
                "schedule with --survive"
            )
        factors = {node: shards[node] / left[node] for node in members if shards[node]}
        phases.append((phase.op, [replace(tree, weight=tree.weight * factors[tree.root]) for tree in kept]))
    routes, made = tree_phases(phases, Fraction(1))
    algbw = loads_along_routes(network, routes, made, None).algbw(network)
    return TreeSchedule(network, whole.collective, routes=routes, phases=made, algbw=algbw, bound=bound)


def _kept(schedule: TreeSchedule, phase: Phase, failure: Change) -> Iterator[PackedTree]:
    """Yield the trees of a phase that a failure does not break, directed away from their roots."""
    reduces = phase.op is PhaseOp.REDUCE
    breaking = Breaking(schedule.topology.transposed() if reduces else schedule.topology, (failure,))
    for tree in phase:
        arcs = [tuple(schedule.routes[route]) for route in tree.routes]
        arcs = [arc[::-1] for arc in reversed(arcs)] if reduces else arcs
        if tree.root not in failure.nodes and not breaking.broken_by(breaking.uses(arcs)):
            yield PackedTree(tree.root, tuple(without_nodes(arcs, set(failure.nodes))), tree.share)


def _renumbered(tree: PackedTree, place: dict[int, int]) -> PackedTree:
    return replace(tree, root=place[tree.root], arcs=tuple(tuple(place[node] for node in arc) for arc in tree.arcs))
