"""Schedules on a logical network as schedules on the network itself: logical links become paths through the fabric."""

from collections.abc import Callable
from dataclasses import replace

from forestcoll.base.errors import InputError
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology.graph.logical_network import LogicalNetwork, with_paths


def with_logical_links(
    best: TreeOptimum, logical: LogicalNetwork, schedule_of: Callable[[TreeOptimum], TreeSchedule]
) -> TreeSchedule:
    """Return the schedule of `best`, which `schedule_of` makes on the logical network.

    Raises:
        InputError: the schedule lists base trees. A symmetry of the logical network need not be one of the network.
    """
    return on_fabric(schedule_of(replace(best, topology=logical.topology, logical=None)), best, logical)


def on_fabric(schedule: TreeSchedule, best: TreeOptimum, logical: LogicalNetwork) -> TreeSchedule:
    """Return `schedule`, which is on the logical network, on the network of `best`.

    Raises:
        InputError: as `with_logical_links`.
    """
    if schedule.symmetry is not None:
        raise InputError(
            f"{best.topology.name}: a schedule with max_peers lists all trees; leave compact out, or use fewer boxes"
        )
    routes = [list(with_paths(schedule.routes[number], logical.paths)) for number in range(len(schedule.routes))]
    return replace(schedule, topology=best.topology, routes=Rows.of(routes), bound=best.bound)
