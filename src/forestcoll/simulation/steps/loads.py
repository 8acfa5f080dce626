"""The part of the data that the steps of a schedule send over each link."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.routes import carried_by_links
from forestcoll.schedule.steps.value import StepPhase, StepSchedule
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


def parts_of(schedule: StepSchedule) -> FloatArray:
    """Return the part of M that crosses each link, in the order of the links."""
    return sum((each.parts for each in loads_by_step(schedule)), np.zeros(len(schedule.topology.links)))


def loads_by_step(schedule: StepSchedule) -> Iterator[StepLoads]:
    """Yield the loads of each step, in order."""
    schedule = expanded_steps(schedule)
    targets = np.array([link.target for link in schedule.topology.links])
    for phase in schedule.phases:
        for parts in _parts_by_step(schedule, phase):
            at_node = np.bincount(targets, parts > 0, len(schedule.topology.nodes))
            yield StepLoads(phase.op, parts, at_node[targets])


def _parts_by_step(schedule: StepSchedule, phase: StepPhase) -> Iterator[FloatArray]:
    sizes = np.array([float(size) for size in schedule.shard_sizes])
    sent = phase.transfers
    points = np.array([float(point) for point in sent.points])
    weights = (points[sent.highs] - points[sent.lows]) * sizes[sent.shards]
    crossing = carried_by_links(schedule, sent, weights)
    order = np.argsort(crossing.steps, kind="stable")
    starts = np.searchsorted(crossing.steps[order], np.arange(sent.steps + 1))
    for first, last in pairwise(starts.tolist()):
        chosen = order[first:last]
        parts: FloatArray = np.zeros(len(schedule.topology.links))
        np.add.at(parts, crossing.links[chosen], crossing.amounts[chosen])
        yield parts
