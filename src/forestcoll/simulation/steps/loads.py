"""The part of the data that the steps of a schedule send over each link."""

import numpy as np

from forestcoll.schedule.steps.routes import carried_by_links
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.simulation.loads import FloatArray


def parts_of(schedule: StepSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links."""
    parts = np.zeros(len(schedule.topology.links))
    sizes = np.array([float(size) for size in schedule.shard_sizes])
    for phase in schedule.phases:
        sent = phase.transfers
        points = np.array([float(point) for point in sent.points])
        weights = (points[sent.highs] - points[sent.lows]) * sizes[sent.shards]
        crossing = carried_by_links(schedule, sent, weights)
        parts += np.bincount(crossing.links, crossing.amounts, len(parts))
    return parts
