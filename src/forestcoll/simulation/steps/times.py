"""The time of a step schedule (§3.2): for each step, a latency and the time of its busiest link.

The latency of a step is that of its slowest transfer: alpha and the overhead for each compute node that sends the data
or passes it on, and the stated latencies of the links that the transfer crosses.

With further costs, a step also takes as long as its busiest rank, and a step that reduces then adds up the data that
the busiest rank received. Ranks wait for each other between steps, so nothing overlaps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.loads import link_numbers, links_of_routes
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.routes import passes_compute
from forestcoll.schedule.steps.traffic import step_loads
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Rates, Wires


@dataclass(frozen=True)
class _StepLoads:
    """The loads of one step.

    Attributes:
        op: what receivers do with the data.
        parts: the part of M that crosses each link, in the order of the links.
        senders: for each link, the number of links that carry data to its target in this step.
    """

    op: PhaseOp
    parts: FloatArray
    senders: FloatArray


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
    steps: tuple[_StepLoads, ...]
    greatest_part: float

    @staticmethod
    def of(schedule: StepSchedule) -> "StepWork":
        """Return the work of `schedule`. Raises `InputError` if the size of the bandwidth unit is not known."""
        schedule = expanded_steps(schedule)
        greatest = max(_greatest_part(schedule, phase.transfers) for phase in schedule.phases)
        return StepWork(schedule, Wires.of(schedule.topology), tuple(_loads_by_step(schedule)), greatest)

    def model(self, costs: Costs) -> "StepModel":
        """Return the times with these costs."""
        latencies = sum(_latency_us(self.schedule, phase.transfers, costs) for phase in self.schedule.phases)
        return StepModel(
            schedule=self.schedule,
            latency=(costs.launch_us + latencies) * 1e-6,
            seconds_per_byte=sum(self.seconds_by_step(costs)),
            greatest_part=self.greatest_part,
        )

    def seconds_by_step(self, costs: Costs) -> list[float]:
        """Return the time of each step for one byte of M, without latency."""
        rates = Rates.of(self.wires, costs)
        return [self._seconds(step, rates) for step in self.steps]

    def _seconds(self, step: _StepLoads, rates: Rates) -> float:
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
        links_of = links_of_routes(schedule.topology, schedule.routes)
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


def _loads_by_step(schedule: StepSchedule) -> Iterator[_StepLoads]:
    """Yield the loads of each step, in order."""
    schedule = expanded_steps(schedule)
    targets = np.array(schedule.topology.link_ends[1])
    for phase in schedule.phases:
        loads = step_loads(schedule, phase.transfers)
        for carried in loads.carried:
            at_node = np.bincount(targets, carried > 0, len(schedule.topology.nodes))
            yield _StepLoads(phase.op, np.asarray(carried / loads.whole, dtype=np.float64), at_node[targets])
