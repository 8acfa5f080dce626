"""The time of a step schedule (§3.2): for each step, a latency and the time of its busiest link.

The latency of a step is that of its slowest transfer: alpha and the overhead for each compute node that sends the data
or passes it on, and the stated latencies of the links that the transfer crosses.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.steps.routes import link_numbers, links_of_routes, passes_compute
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers
from forestcoll.simulation.costs import Costs, Point, point_at
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
    slowest = np.full(sent.steps, send)
    stated = np.array([float(link.latency_us or 0) for link in schedule.topology.links])
    own = np.arange(len(sent)) if sent.routes is None else np.flatnonzero(sent.routes == NO_ROUTE)
    if stated.any():
        links = link_numbers(schedule.topology, sent.sources[own], sent.targets[own])
        np.maximum.at(slowest, sent.step_of[own], send + stated[links])
    if sent.routes is not None:
        links_of = links_of_routes(schedule)
        of_route = np.repeat(np.arange(len(links_of)), np.diff(links_of.starts))
        latencies = send * (1.0 + passes_compute(schedule))
        latencies += np.bincount(of_route, stated[links_of.entries], len(links_of))
        routed = np.flatnonzero(sent.routes != NO_ROUTE)
        np.maximum.at(slowest, sent.step_of[routed], latencies[sent.routes[routed]])
    return float(slowest.sum())


def _greatest_part(schedule: StepSchedule, sent: Transfers) -> float:
    """Return the greatest part of M that one transfer sends."""
    points = np.array([float(point) for point in sent.points])
    sizes = np.array([float(size) for size in schedule.shard_sizes])
    return float(((points[sent.highs] - points[sent.lows]) * sizes[sent.shards]).max(initial=0.0))
