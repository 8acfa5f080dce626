"""What each group of an optimum would have alone, and what the compute nodes outside groups gain as relays."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.value import Group
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.solver.optimum import optimum_without_relays
from forestcoll.solver.problem import Problem
from forestcoll.topology import Topology


@dataclass(frozen=True)
class GroupGain:
    """What a group would have alone, in the unit of the topology.

    Attributes:
        algbw_alone: its algbw if no other group runs.
        algbw_alone_without_relays: the same, if no compute node outside the group relays data; None if its nodes cannot
            all reach each other then.

    Example:
        >>> from forestcoll import group_gains, groups_optimum
        >>> gain = group_gains(groups_optimum("complete:nodes=4", "0,1;2,3")).groups[0]
        >>> str(gain.algbw_alone), str(gain.algbw_alone_without_relays)
        ('6', '2')
    """

    algbw_alone: Fraction
    algbw_alone_without_relays: Fraction | None


@dataclass(frozen=True)
class GroupGains:
    """What groups would have alone and without relays. `group_gains` returns it.

    Attributes:
        groups: for each group, what it would have alone.
        without_relays: the algbw for size 1 if all groups run together, and no compute node relays data of a group that
            it is not in; None if the nodes of a group cannot all reach each other then.

    Example:
        >>> from forestcoll import group_gains, groups_optimum
        >>> gains = group_gains(groups_optimum("ring:nodes=4", "0,1;2,3", "allreduce"))
        >>> str(gains.groups[0].algbw_alone), str(gains.without_relays)
        ('2', '1')
    """

    groups: tuple[GroupGain, ...]
    without_relays: Fraction | None


def group_gains(best: GroupsOptimum, progress: Progress = SILENT) -> GroupGains:
    """Return what each group would have alone, and what all groups would have without relays.

    Args:
        best: an optimum, as `groups_optimum` returns it.
        progress: receives the stages of the work.

    Returns:
        The gains. Groups that a symmetry of the network maps to each other have the same.

    Example:
        >>> from forestcoll import group_gains, groups_optimum
        >>> best = groups_optimum("dgx-a100:boxes=2", "0,8;1,9;2,10;3,11;4,12;5,13;6,14;7,15", "allreduce")
        >>> gain = group_gains(best).groups[0]
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
            alone = flow_search(topology, group.demand, progress).algbw
        else:  # the search for one allreduce is slow with many relays, and no other search has sources and targets
            alone = group_search(topology, one, progress).algbw
        return GroupGain(max(alone, together), _rate_without_relays(topology, one, progress))
    best = Problem.of(topology, group.demand, progress).solve(None, progress).optimum
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
