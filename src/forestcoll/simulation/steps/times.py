"""The time of a step schedule (§3.2): for each step, a latency and the time of its busiest link."""

from dataclasses import dataclass

from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
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
        topology = schedule.topology
        unit = bytes_per_microsecond(topology.bandwidth_unit) * 10**6
        stated = max((float(link.latency_us or 0) for link in topology.links), default=0.0)
        step = (costs.alpha_us + costs.overhead_us + stated) * 1e-6
        return StepModel(
            schedule=schedule,
            latency=schedule.steps * step,
            seconds_per_byte=float(step_shape(schedule).bandwidth_time / unit),
            greatest_part=max(
                float((each.high - each.low) * schedule.shard_sizes[each.shard])
                for phase in schedule.phases
                for transfers in phase.transfers
                for each in transfers
            ),
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
