"""The paths between ranks that a schedule of flows uses, for the simulation of its program."""

from forestcoll.schedule.flows.expansion import flow_images
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.simulation.program.paths import Paths


def paths_of_flows(schedule: FlowSchedule) -> Paths:
    """Return the routes of `schedule` as paths; a pair with several divides its data as the schedule does."""
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    used: dict[tuple[int, int], dict[tuple[int, ...], float]] = {}
    for flow in flow_images(schedule):
        for path in flow.paths:
            if path[0] in ranks and path[-1] in ranks:
                parts = used.setdefault((ranks[path[0]], ranks[path[-1]]), {})
                parts[path] = parts.get(path, 0.0) + float(flow.share)
    return Paths(schedule.topology, schedule.members, used)
