"""Steps on networks whose nodes have limits: the steps without limits, along routes through the limits.

A direct network with limits has switches that stand for the limits (`topology/graph/node_limits.py`). Each transfer
over a link takes the route through the switches of its ends, so that the time of a step counts the limits. The division
of data over links is the one without limits, which need not be the best with them.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.topology import Topology
from forestcoll.topology.graph.node_limits import without_node_limits
from forestcoll.topology.graph.routes import Routes


def within_limits(topology: Topology, make: Callable[[Topology], StepSchedule]) -> StepSchedule:
    """Return the schedule that `make` makes of a network without limits, on the network with its limits.

    Raises:
        InputError: the schedule has a symmetry, which would have to map limits too; or as `make`.
    """
    plain = without_node_limits(topology)
    schedule = make(plain)
    if plain is topology:
        return schedule
    if schedule.symmetry is not None:
        raise InputError(f"{topology.name}: steps on a network with limits of nodes are not compact; leave out compact")
    paths = Routes(topology)
    numbers = {ends: number for number, ends in enumerate(plain.link_numbers)}
    routes = Rows.of([paths.find(*ends) or ends for ends in numbers])
    phases = tuple(replace(phase, transfers=_along(phase.transfers, numbers)) for phase in schedule.phases)
    return replace(schedule, topology=topology, phases=phases, routes=routes)


def _along(sent: Transfers, numbers: dict[tuple[int, int], int]) -> Transfers:
    """Return transfers along the route of their link."""
    ends = zip(sent.sources.tolist(), sent.targets.tolist(), strict=True)
    return replace(sent, routes=np.array([numbers[each] for each in ends], dtype=np.int32))
