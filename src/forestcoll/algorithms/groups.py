"""Groups that run at the same time: their optimum, and the schedules that reach it."""

from dataclasses import replace

from forestcoll.algorithms.method import Generated
from forestcoll.base.progress import Progress
from forestcoll.demand.groups.groups import Groups
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.groups.bundling import bundle_for
from forestcoll.solver.groups.gains import group_gains
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.topology import TopologyLike
from forestcoll.topology.registry import load_topology


def optimum_of_groups(
    topology: TopologyLike, groups: Groups, progress: Progress, *, gains: bool = True
) -> GroupsOptimum:
    """Return the optimum of groups, with what each would have alone; not for pieces, as there may be many."""
    network = load_topology(topology, connected=groups.needs_all)
    require_all_ports(network)
    best = group_search(*groups.bind(network), progress, relays=groups.relays)
    return replace(best, gains=group_gains(best, progress)) if gains and groups.pieces is None else best


def groups_generated(topology: TopologyLike, groups: Groups, progress: Progress, *, gains: bool = False) -> Generated:
    """Return the bundle of schedules that reaches the optimum of groups, and the optimum."""
    best = optimum_of_groups(topology, groups, progress, gains=gains)
    return Generated(bundle_for(best), best)
