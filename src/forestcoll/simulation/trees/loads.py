"""The part of the data that the trees of a schedule send over each link."""

import numpy as np

from forestcoll.schedule.steps.routes import link_numbers
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.loads import FloatArray, hops_of, shares_of
from forestcoll.topology import Symmetry


def parts_of(schedule: TreeSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links, with all images of base trees."""
    topology = schedule.topology
    per_route = np.zeros(len(schedule.routes))
    for phase in schedule.phases:
        sizes = np.diff(phase.routes.starts)
        per_route += np.bincount(phase.routes.entries, np.repeat(shares_of(phase), sizes), len(per_route))
    sources, targets, of_route = hops_of(schedule.routes)
    weights = per_route[of_route]
    parts = np.zeros(len(topology.links))
    for element in (schedule.symmetry or Symmetry(())).elements(len(topology.nodes)):
        links = link_numbers(topology, element[sources], element[targets])
        parts += np.bincount(links, weights, len(parts))
    return parts
