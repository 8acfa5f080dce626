"""What users call for groups that run at the same time: their optimum, and schedules that reach it."""

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.value import GroupsLike, SizesLike, groups_of
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.solver.groups.bundling import bundle_for
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.topology import TopologyLike
from forestcoll.topology.registry import load_topology


def groups_optimum(  # noqa: PLR0913 (the groups and how to solve them)
    topology: TopologyLike,
    groups: GroupsLike,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    sizes: SizesLike | None = None,
    relays: bool = True,
    progress: Progress = SILENT,
) -> GroupsOptimum:
    """Return the optimum of several collectives that run at the same time on one network.

    All groups start together and end together: the rate of each group is its size times a common rate, which is as
    great as possible. Compute nodes outside a group may relay its data.

    Args:
        topology: the network: a `Topology`, a spec string of a builder, a path, or a networkx graph.
        groups: the groups: a text such as `0,8;1,9`, in which `;` separates groups and each group is as for
            `ranks_of`; or a list with the ranks, a `Demand` or a `Group` for each group. Groups may share ranks.
        collective: the collective of the groups that are given by ranks. If it has a root, this is the first compute
            node of the group.
        sizes: the size of each group, relative to a common unit of data: a text such as `1,1/2`, or a list of numbers;
            1 for all if None.
        relays: whether compute nodes outside a group may relay its data.
        progress: receives the stages of the work.

    Returns:
        The optimum. `algbw` is that of a group of size 1, in the unit of the topology. `bound` has a proof; if it is
        greater than `algbw`, a group has too many members for an exact solution, or relays would help.

    Raises:
        InputError: the groups or the sizes are not valid, a node of a group cannot reach another one, or the network is
            too large.
        NoSolutionError: the topology is one-port.

    Example:
        >>> from forestcoll import groups_optimum
        >>> pairs = ";".join(f"{gpu},{gpu + 8}" for gpu in range(8))
        >>> best = groups_optimum("dgx-a100:boxes=2", pairs, "allreduce")
        >>> str(best.algbw), best.is_optimal
        ('25', True)
    """
    network = load_topology(topology, connected=False)
    require_all_ports(network)
    return group_search(network, groups_of(network, groups, collective, sizes), progress, relays=relays)


def generate_groups(  # noqa: PLR0913 (the groups and how to solve them)
    topology: TopologyLike,
    groups: GroupsLike,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    sizes: SizesLike | None = None,
    relays: bool = True,
    progress: Progress = SILENT,
) -> BundleSchedule:
    """Return a bundle: schedules of several collectives that reach their optimum when they run at the same time.

    Args:
        topology: as for `groups_optimum`.
        groups: as for `groups_optimum`.
        collective: as for `groups_optimum`.
        sizes: as for `groups_optimum`.
        relays: as for `groups_optimum`. Schedules with relays cannot be exported.
        progress: receives the stages of the work.

    Returns:
        The bundle. `verify` checks it. `bundle.bundled[i].schedule` is the schedule of group i.

    Raises:
        InputError: see `groups_optimum`.
        NoSolutionError: see `groups_optimum`.

    Example:
        >>> from forestcoll import generate_groups, verify
        >>> bundle = generate_groups("torus:dims=4x4", "0-3;4-7;8-11;12-15", "allreduce")
        >>> str(bundle.algbw), verify(bundle).optimal
        ('4/3', True)
    """
    return bundle_for(groups_optimum(topology, groups, collective, sizes=sizes, relays=relays, progress=progress))
