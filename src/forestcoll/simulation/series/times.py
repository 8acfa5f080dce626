"""The time of one large message through a periodic schedule, as a closed form.

M is cut into equal messages: p periods with m messages per period. So a message has M/(p m) bytes, and a period takes
P M/(p m), where P is the period for messages of one unit. The messages of the last period have reached all nodes after
height - 1 more periods. Each round of a period costs the latency and the overhead of a chunk; let c be the sum over all
rounds. Then

    T(p) = launch + (p + height - 1) (P M/(p m) + c),

which is least for p next to sqrt((height - 1) P M / (m c)). As M grows, T/M falls to P/m = 1/throughput.

If the costs reduce the bandwidth that data can use, each round is longer, as its slowest transfer or rank requires.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.schedule.series.value import Round, SeriesSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.rates import Rates, Wires


@dataclass(frozen=True)
class SeriesModel:
    """The times of a periodic schedule.

    Attributes:
        schedule: the schedule.
        launch: the constant time, in seconds.
        period_latency: the latency and overhead of all rounds of a period (c), in seconds.
        seconds_per_byte: the time for one byte of M without latency, in seconds.
    """

    schedule: SeriesSchedule
    launch: float
    period_latency: float
    seconds_per_byte: float

    @staticmethod
    def of(schedule: SeriesSchedule, costs: Costs) -> "SeriesModel":
        """Return the model of `schedule`. Raises `InputError` if the size of the bandwidth unit is not known."""
        topology = schedule.topology
        unit = bytes_per_microsecond(topology.bandwidth_unit) * 10**6
        stated = max((float(link.latency_us or 0) for link in topology.links), default=0.0)
        latency = len(schedule.rounds) * (costs.alpha_us + costs.overhead_us + stated) * 1e-6
        wires = Wires.of(topology)
        rates = Rates.of(wires, costs)
        places = topology.link_numbers
        longer = 0.0
        for each in schedule.rounds:
            factor = _factor([places[ends] for ends in _edges(schedule, each)], wires, rates)
            longer += float(each.duration / schedule.period) * (factor - 1)
        per_byte = float(1 / (schedule.algbw * unit)) * (1 + longer)
        return SeriesModel(schedule, costs.launch_us * 1e-6, latency, per_byte)

    def seconds(self, size: int, periods: int) -> float:
        """Return T(p) in seconds for M of `size` bytes and p = `periods`."""
        transfer = size * self.seconds_per_byte / periods
        return self.launch + (periods + self.schedule.height - 1) * (transfer + self.period_latency)

    def best_periods(self, size: int) -> int:
        """Return the number of periods with the least T such that a message has at least one byte."""
        most = max(1, size // (self.schedule.messages * self.schedule.parts))
        if not self.period_latency:
            return most
        square = (self.schedule.height - 1) * size * self.seconds_per_byte / self.period_latency
        near = isqrt(int(square))
        return min((max(1, min(each, most)) for each in (near, near + 1)), key=lambda each: self.seconds(size, each))

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes in the best number of periods."""
        periods = self.best_periods(size)
        seconds, pieces = self.seconds(size, periods), periods * self.schedule.messages
        return point_at(self.schedule, size=size, seconds=seconds, pieces=pieces, part=1)


def _edges(schedule: SeriesSchedule, each: Round) -> Iterator[tuple[int, int]]:
    """Yield the two ends of each busy link of a round."""
    for transfer in each.transfers:
        yield schedule.trees[transfer.tree].edges[transfer.edge]


def _factor(busy: list[int], wires: Wires, rates: Rates) -> float:
    """Return how many times as long a round with these busy links takes as with their whole bandwidth."""
    if not busy:
        return 1.0
    full, targets = wires.bytes_per_second[busy], wires.targets[busy]
    slower = rates.slower(np.bincount(targets).astype(np.float64)[targets])
    factor = float(np.max(full * rates.links[busy] * slower))
    parts = np.zeros(len(wires.targets))
    parts[busy] = full
    return max(factor, rates.rank * wires.rank_loads(parts).greatest)
