"""The part of the data that the steps of a schedule send over each link."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.traffic import step_loads
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.simulation.loads import FloatArray


@dataclass(frozen=True)
class StepLoads:
    """The loads of one step.

    Attributes:
        op: what receivers do with the data.
        parts: the part of M that crosses each link, in the order of the links.
        senders: for each link, the number of links that carry data to its target in this step.
    """

    op: PhaseOp
    parts: FloatArray
    senders: FloatArray


def loads_by_step(schedule: StepSchedule) -> Iterator[StepLoads]:
    """Yield the loads of each step, in order."""
    schedule = expanded_steps(schedule)
    targets = np.array(schedule.topology.link_ends[1])
    for phase in schedule.phases:
        loads = step_loads(schedule, phase.transfers)
        for carried in loads.carried:
            at_node = np.bincount(targets, carried > 0, len(schedule.topology.nodes))
            yield StepLoads(phase.op, np.asarray(carried / loads.whole, dtype=np.float64), at_node[targets])
