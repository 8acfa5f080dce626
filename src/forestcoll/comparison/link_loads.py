"""The part of the data on each link of a schedule, and classes of links by their place in the network."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from forestcoll.algorithms.boxes import Boxes
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.traffic import total_loads
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.traffic import carried_by_routes
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.loads import hops_of
from forestcoll.simulation.simulate import loads_of
from forestcoll.topology import Link, Topology

_FINEST = 10**6
"""The greatest denominator of a load that is computed in floating point."""


def link_loads(schedule: Schedule) -> list[Fraction]:
    """Return the part of M that crosses each link, in the order of the links of the topology.

    The parts are exact for schedules of steps, and for schedules that list all their trees.
    """
    if isinstance(schedule, StepSchedule):
        return total_loads(schedule)
    if not isinstance(schedule, TreeSchedule) or schedule.symmetry is not None:
        return [Fraction(part).limit_denominator(_FINEST) for part in loads_of(schedule).parts.tolist()]
    topology, routes = schedule.topology, schedule.routes
    carried, whole = carried_by_routes(routes, schedule.phases, len(topology.nodes))
    sources, targets, of_route = hops_of(routes)
    nodes = len(topology.nodes)
    numbers = np.full(nodes * nodes, -1, dtype=np.int64)
    for place, link in enumerate(topology.links):
        numbers[link.source * nodes + link.target] = place
    totals = np.zeros(len(topology.links), dtype=carried.dtype)
    np.add.at(totals, numbers[sources * nodes + targets], carried[of_route])
    return [Fraction(int(total), whole) for total in totals]


def link_classes(topology: Topology, boxes: Boxes) -> Mapping[str, list[int]]:
    """Return the numbers of the links of each class, by the name of the class in the plural.

    If nodes have boxes, a link that leaves a box is a NIC link, a link between boxes a fabric link, and a link inside a
    box a direct link or a link of the switch in its name. If not, the class of a link is its bandwidth.
    """
    classes: dict[str, list[int]] = {}
    for number, link in enumerate(topology.links):
        classes.setdefault(_class(topology, boxes, link), []).append(number)
    return classes


def _class(topology: Topology, boxes: Boxes, link: Link) -> str:
    one, other = boxes.of.get(link.source), boxes.of.get(link.target)
    if not boxes.of:
        return f"links of {float(link.bandwidth):g} {topology.bandwidth_unit}"
    if one != other:
        return "NIC links"
    if one is None:
        return "fabric links"
    switches = [node for node in (link.source, link.target) if not topology.nodes[node].is_compute]
    names = dict.fromkeys(_kind(str(topology.nodes[switch].id)) for switch in sorted(switches))
    return f"{' to '.join(names)} links" if names else "direct links"


def _kind(name: str) -> str:
    """Return the last part of the id of a switch without its number: `nvswitch` for `b0/nvswitch0`."""
    return name.rsplit("/", 1)[-1].rstrip("0123456789") or "switch"
