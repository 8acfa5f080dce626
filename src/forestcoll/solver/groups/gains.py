"""What each group of an optimum would have alone, and what the compute nodes outside groups gain as relays."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.value import Group
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupGain, GroupGains, GroupsOptimum
from forestcoll.solver.optimum import optimum_without_relays
from forestcoll.solver.problem import OptimumProblem
from forestcoll.topology import Topology


def group_gains(best: GroupsOptimum, progress: Progress = SILENT) -> GroupGains:
    """Return what each group would have alone, and what all groups would have without relays.

    Args:
        best: an optimum, as `group_search` returns it.
        progress: receives the stages of the work.

    Returns:
        The gains. Groups that a symmetry of the network maps to each other have the same.

    Example:
        >>> from forestcoll import Groups, optimum
        >>> best = optimum("dgx-a100:boxes=2", Groups("tp=8,dp=2", "allreduce"))
        >>> gain = best.gains.groups[0]
        >>> str(gain.algbw_alone), str(gain.algbw_alone_without_relays), str(best.algbw_of(0))
        ('200', '25', '25')
    """
    firsts = sorted(set(best.first_groups))
    found = {place: _gain(best.topology, best.groups[place], best.algbw_of(place), progress) for place in firsts}
    return GroupGains(tuple(found[place] for place in best.first_groups), _without_relays(best, progress))


def _gain(topology: Topology, group: Group, together: Fraction, progress: Progress) -> GroupGain:
    """Return what a group would have alone. `together` is what it has with the others, which is never more."""
    collective, one = group.demand.collective, [Group(group.demand)]
    if collective is Collective.ALLREDUCE or collective.is_personalised or group.demand.sources is not None:
        if collective.is_personalised:
            alone = flow_search(topology, group.demand, progress, paths=False).algbw
        else:  # the search for one allreduce is slow with many relays, and no other search has sources and targets
            alone = group_search(topology, one, progress).algbw
        return GroupGain(max(alone, together), _rate_without_relays(topology, one, progress))
    best = OptimumProblem.of(topology, group.demand, progress).solve(None, progress)
    if len(best.members) == len(topology.compute):
        return GroupGain(max(best.algbw, together), best.algbw)
    bare = optimum_without_relays(best, progress=progress)
    return GroupGain(max(best.algbw, together), None if bare is None else bare.algbw)


def _without_relays(best: GroupsOptimum, progress: Progress) -> Fraction | None:
    if not any(best.uses_relays(place) for place in range(len(best.groups))):
        return best.algbw
    return _rate_without_relays(best.topology, best.groups, progress)


def _rate_without_relays(topology: Topology, groups: Sequence[Group], progress: Progress) -> Fraction | None:
    try:
        return group_search(topology, groups, progress, relays=False).algbw
    except InputError:  # a group is not connected
        return None
