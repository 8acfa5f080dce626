"""The part of the data that the trees of a series of broadcasts send over each link."""

import numpy as np

from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.loads import FloatArray


def parts_of(schedule: SeriesSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links."""
    places = schedule.topology.link_numbers
    parts = np.zeros(len(places))
    for tree in schedule.trees:
        for ends in tree.edges:
            parts[places[ends]] += float(tree.weight / schedule.throughput)
    return parts
