"""The part of the data that the flows of a schedule send over each link."""

import numpy as np

from forestcoll.schedule.flows.value import Flows, FlowSchedule
from forestcoll.schedule.steps.routes import link_numbers
from forestcoll.simulation.loads import FloatArray, hops_of
from forestcoll.topology.symmetry.orbits import summed_over_images


def shares_of_flows(flows: Flows) -> FloatArray:
    """Return the share of each flow as a float."""
    known = {share: float(share) for share in set(flows.shares)}
    return np.array([known[share] for share in flows.shares])


def parts_of(schedule: FlowSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links, with all images of base flows."""
    topology, listed = schedule.topology, schedule.flows.routes
    per_route = np.bincount(
        listed.entries, np.repeat(shares_of_flows(schedule.flows), np.diff(listed.starts)), len(schedule.routes)
    )
    sources, targets, of_route = hops_of(schedule.routes)
    links = link_numbers(topology, sources, targets)
    parts = np.bincount(links, per_route[of_route], len(topology.links)).astype(np.float64)
    return parts if schedule.symmetry is None else summed_over_images(topology, schedule.symmetry, parts)
