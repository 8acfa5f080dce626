"""The time of a step schedule (§3.2): for each step, a latency and the time of its busiest link.

The latency of a step is that of its slowest transfer: alpha and the overhead for each compute node that sends the data
or passes it on, and the stated latencies of the links that the transfer crosses.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.steps.routes import crossings_of, passes_compute
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray
from forestcoll.units import bytes_per_microsecond


@dataclass(frozen=True)
class StepModel:
    """The times of a step schedule.

    Attributes:
        schedule: the schedule.
        latency: the latency of all steps together, in seconds.
        seconds_per_byte: the time for one byte of M without latency, in seconds.
        greatest_part: the greatest part of M that one transfer sends.
    """

    schedule: StepSchedule
    latency: float
    seconds_per_byte: float
    greatest_part: float

    @staticmethod
    def of(schedule: StepSchedule, costs: Costs) -> "StepModel":
        """Return the model of `schedule`. Raises `InputError` if the size of the bandwidth unit is not known."""
        unit = bytes_per_microsecond(schedule.topology.bandwidth_unit) * 10**6
        return StepModel(
            schedule=schedule,
            latency=sum(_latency_us(schedule, phase.transfers, costs) for phase in schedule.phases) * 1e-6,
            seconds_per_byte=float(step_shape(schedule).bandwidth_time / unit),
            greatest_part=max(_greatest_part(schedule, phase.transfers) for phase in schedule.phases),
        )

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes."""
        seconds = self.latency + size * self.seconds_per_byte
        return point_at(
            self.schedule,
            size=size,
            seconds=seconds,
            pieces=1,
            part=self.greatest_part,
        )


def _latency_us(schedule: StepSchedule, sent: Transfers, costs: Costs) -> float:
    """Return the latency of all steps of a phase together, in microseconds."""
    send = costs.alpha_us + costs.overhead_us
    stated = np.array([float(link.latency_us or 0) for link in schedule.topology.links])
    if sent.routes is None and not stated.any():
        return sent.steps * send
    crossed = crossings_of(schedule, sent)
    latencies = send * _senders(schedule, sent)
    latencies += np.bincount(crossed.transfers, stated[crossed.links], len(sent))
    slowest = np.full(sent.steps, send)
    np.maximum.at(slowest, sent.step_of, latencies)
    return float(slowest.sum())


def _senders(schedule: StepSchedule, sent: Transfers) -> FloatArray:
    """Return, for each transfer, the number of compute nodes that send its data: the source, and those in between."""
    senders = np.ones(len(sent))
    if sent.routes is not None:
        routed = np.flatnonzero(sent.routes != NO_ROUTE)
        senders[routed] += passes_compute(schedule)[sent.routes[routed]]
    return senders


def _greatest_part(schedule: StepSchedule, sent: Transfers) -> float:
    """Return the greatest part of M that one transfer sends."""
    points = np.array([float(point) for point in sent.points])
    sizes = np.array([float(size) for size in schedule.shard_sizes])
    return float(((points[sent.highs] - points[sent.lows]) * sizes[sent.shards]).max(initial=0.0))
