"""The time of a step schedule (§3.2): for each step, a latency and the time of its busiest link.

With further costs, a step also takes as long as its busiest rank, and a step that reduces then adds up the data that
the busiest rank received. Ranks wait for each other between steps, so nothing overlaps.
"""

from dataclasses import dataclass

from forestcoll.collective import PhaseOp
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.rates import Rates, Wires
from forestcoll.simulation.steps.loads import StepLoads, loads_by_step


@dataclass(frozen=True)
class StepWork:
    """What a step schedule sends: everything in its times that does not depend on costs.

    Attributes:
        schedule: the schedule.
        wires: the links of the network.
        steps: the loads of each step, for all phases one after the other.
        greatest_part: the greatest part of M that one transfer sends.
    """

    schedule: StepSchedule
    wires: Wires
    steps: tuple[StepLoads, ...]
    greatest_part: float

    @staticmethod
    def of(schedule: StepSchedule) -> "StepWork":
        """Return the work of `schedule`. Raises `InputError` if the size of the bandwidth unit is not known."""
        greatest = max(
            float((each.high - each.low) * schedule.shard_sizes[each.shard])
            for phase in schedule.phases
            for transfers in phase.transfers
            for each in transfers
        )
        return StepWork(schedule, Wires.of(schedule.topology), tuple(loads_by_step(schedule)), greatest)

    def model(self, costs: Costs) -> "StepModel":
        """Return the times with these costs."""
        topology, rates = self.schedule.topology, Rates.of(self.wires, costs)
        stated = max((float(link.latency_us or 0) for link in topology.links), default=0.0)
        step = (costs.alpha_us + costs.overhead_us + stated) * 1e-6
        return StepModel(
            schedule=self.schedule,
            latency=costs.launch_us * 1e-6 + self.schedule.steps * step,
            seconds_per_byte=sum(self._seconds(each, rates) for each in self.steps),
            greatest_part=self.greatest_part,
        )

    def _seconds(self, step: StepLoads, rates: Rates) -> float:
        """Return the time of a step for one byte of M."""
        links = step.parts * rates.links
        if rates.incast:
            links = links * rates.slower(step.senders)
        greatest = float(links.max(initial=0))
        if not rates.rank and not rates.reduction:
            return greatest
        ranks = self.wires.rank_loads(step.parts)
        limit = rates.rank * ranks.greatest
        adding = rates.reduction * float(ranks.received.max()) if step.op is PhaseOp.REDUCE else 0.0
        return max(greatest, limit) + adding


@dataclass(frozen=True)
class StepModel:
    """The times of a step schedule.

    Attributes:
        schedule: the schedule.
        latency: the launch and the latency of all steps together, in seconds.
        seconds_per_byte: the time for one byte of M without latency, in seconds.
        greatest_part: the greatest part of M that one transfer sends.
    """

    schedule: StepSchedule
    latency: float
    seconds_per_byte: float
    greatest_part: float

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
