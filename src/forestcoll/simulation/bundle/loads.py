"""The part of the data that the members of a bundle send over each link."""

import numpy as np

from forestcoll.schedule.bundle.value import BundleSchedule, MemberSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.flows.loads import parts_of as parts_of_flows
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.trees.loads import parts_of as parts_of_trees


def parts_of_member(schedule: MemberSchedule) -> FloatArray:
    """Return the part of the member's M that crosses each link, in the order of the links of the network."""
    return parts_of_trees(schedule) if isinstance(schedule, TreeSchedule) else parts_of_flows(schedule)


def parts_of(schedule: BundleSchedule) -> FloatArray:
    """Return the data of all members that crosses each link, in multiples of the M of size 1."""
    parts = (float(member.size) * parts_of_member(member.schedule) for member in schedule.bundled)
    return sum(parts, np.zeros(len(schedule.topology.links)))
