"""The part of the data that the trees of a schedule send over each link."""

import numpy as np

from forestcoll.schedule.steps.routes import link_numbers
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation.loads import FloatArray, hops_of, shares_of
from forestcoll.topology.symmetry.orbits import summed_over_images


def parts_of(schedule: TreeSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links, with all images of base trees."""
    return sum((parts_of_phase(schedule, phase) for phase in schedule.phases), np.zeros(len(schedule.topology.links)))


def parts_of_phase(schedule: TreeSchedule, phase: Phase) -> FloatArray:
    """Return the part of M that crosses each link in one phase of the schedule."""
    topology = schedule.topology
    sizes = np.diff(phase.routes.starts)
    per_route = np.bincount(phase.routes.entries, np.repeat(shares_of(phase), sizes), len(schedule.routes))
    sources, targets, of_route = hops_of(schedule.routes)
    links = link_numbers(topology, sources, targets)
    parts = np.bincount(links, per_route[of_route], len(topology.links)).astype(np.float64)
    return parts if schedule.symmetry is None else summed_over_images(topology, schedule.symmetry, parts)
