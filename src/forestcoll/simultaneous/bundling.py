"""Bundles of schedules: the trees of each group as a schedule, and all of them as a bundle."""

from fractions import Fraction

from forestcoll.collective import PhaseOp
from forestcoll.errors import InternalError
from forestcoll.generation.loads import achieved_algbw
from forestcoll.generation.packed import tree_phases
from forestcoll.groups.value import Group
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simultaneous.value import GroupsOptimum, Trees
from forestcoll.topology import Topology

_ORDER = (PhaseOp.REDUCE, PhaseOp.BROADCAST)


def bundle_for(best: GroupsOptimum) -> BundleSchedule:
    """Return the bundle of schedules that reaches `best.algbw`.

    Args:
        best: the optimum, as `groups_optimum` returns it.

    Returns:
        The bundle, with one schedule for each group.

    Example:
        >>> from forestcoll import bundle_for, groups_optimum
        >>> bundle_for(groups_optimum("ring:nodes=4", "0,1;2,3", "allreduce"))
        <BundleSchedule: allreduce on 'ring:nodes=4', 4 compute nodes, 2 groups>
    """
    pairs = zip(best.groups, best.trees, strict=True)
    members = tuple(BundleMember(group.size, _schedule(best.topology, group, trees)) for group, trees in pairs)
    return BundleSchedule(best.topology, members, algbw=best.algbw, bound=best.bound)


def _schedule(topology: Topology, group: Group, trees: Trees) -> TreeSchedule:
    routes, phases = tree_phases([(op, trees[op]) for op in _ORDER if op in trees], Fraction(1))
    if not phases:
        raise InternalError("a group has no trees")
    demand = group.demand
    return TreeSchedule(
        topology=topology,
        collective=demand.collective,
        routes=routes,
        phases=phases,
        algbw=achieved_algbw(topology, routes, phases, None),
        shards=demand.shards,
        ranks=None if demand.ranks == topology.compute else demand.ranks,
    )
