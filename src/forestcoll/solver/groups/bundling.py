"""Bundles of schedules: the trees or paths of each group as a schedule, and all of them as a bundle."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule, MemberSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.solver.generation.flows import flow_table
from forestcoll.solver.generation.packed import tree_phases
from forestcoll.solver.groups.value import GroupsOptimum, Trees
from forestcoll.topology import Topology

_ORDER = (PhaseOp.REDUCE, PhaseOp.BROADCAST)


def bundle_for(best: GroupsOptimum) -> BundleSchedule:
    """Return the bundle of schedules that reaches `best.algbw`.

    Args:
        best: the optimum, as `optimum` returns it.

    Returns:
        The bundle, with one schedule for each group.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> bundle_for(optimum("ring:nodes=4", Groups("0,1;2,3", "allreduce")))
        <BundleSchedule: allreduce on 'ring:nodes=4', 4 compute nodes, 2 groups>
    """
    pairs = zip(best.groups, best.trees, strict=True)
    members = tuple(
        BundleMember(group.size, _schedule(best.topology, group, trees), group.pieces) for group, trees in pairs
    )
    return BundleSchedule(best.topology, members, algbw=best.algbw, bound=best.bound)


def _schedule(topology: Topology, group: Group, trees: Trees) -> MemberSchedule:
    demand = group.demand
    ranks = None if demand.ranks == topology.compute else demand.ranks
    if demand.collective.is_personalised:
        paths = [(_path(tree), tree.weight) for tree in trees[PhaseOp.BROADCAST]]
        routes, flows = flow_table(topology, paths)
        algbw = _algbw_of_paths(topology, paths)
        return FlowSchedule(topology, demand.collective, routes, flows, algbw=algbw, ranks=ranks)
    routes, phases = tree_phases([(op, trees[op]) for op in _ORDER if op in trees], Fraction(1))
    return TreeSchedule(
        topology=topology,
        collective=demand.collective,
        routes=routes,
        phases=phases,
        algbw=loads_along_routes(topology, routes, phases, None).algbw(topology),
        shards=demand.shards,
        ranks=ranks,
        sources=demand.sources,
        targets=demand.targets,
    )


def _path(tree: PackedTree) -> tuple[int, ...]:
    """Return the nodes of a tree that is a path."""
    return (tree.root, *(node for arc in tree.arcs for node in arc[1:]))


def _algbw_of_paths(topology: Topology, paths: Sequence[tuple[tuple[int, ...], Fraction]]) -> Fraction:
    """Return 1 / the time of the busiest link."""
    bandwidths = topology.bandwidths
    loads: dict[tuple[int, int], Fraction] = {}
    for nodes, share in paths:
        for ends in pairwise(nodes):
            loads[ends] = loads.get(ends, Fraction(0)) + share
    return 1 / max(load / bandwidths[ends] for ends, load in loads.items())
