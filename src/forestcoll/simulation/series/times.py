"""How long one large message takes through a periodic schedule: a closed form.

M is cut into equal messages for p periods, m a period, so that a message has M/(p m) bytes and a period lasts P(p) =
P M/(p m), P being the period for messages of one unit. What was taken in last is everywhere after height - 1 further
periods. Each round of a period costs the latency and the overhead of a chunk, c for all rounds together, so that

    T(p) = (p + height - 1) (P M/(p m) + c),

which is least at p = sqrt((height - 1) P M / (m c)), or next to it. As M grows, T/M falls to P/m = 1/throughput.
"""

from dataclasses import dataclass
from math import isqrt

from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.units import bytes_per_microsecond


@dataclass(frozen=True)
class SeriesModel:
    """The times of a periodic schedule with some costs.

    Attributes:
        schedule: the schedule.
        period_latency: what all rounds of a period cost besides the time that links are busy, in seconds.
        seconds_per_byte: of M, for large messages.
    """

    schedule: SeriesSchedule
    period_latency: float
    seconds_per_byte: float

    @staticmethod
    def of(schedule: SeriesSchedule, costs: Costs) -> "SeriesModel":
        """Return the model of `schedule`. Raises `InputError` if nobody knows the unit of the network's bandwidths."""
        unit = bytes_per_microsecond(schedule.topology.bandwidth_unit) * 10**6
        stated = max((float(link.latency_us or 0) for link in schedule.topology.links), default=0.0)
        latency = len(schedule.rounds) * (costs.alpha_us + costs.overhead_us + stated) * 1e-6
        return SeriesModel(schedule, latency, float(1 / (schedule.throughput * unit)))

    def seconds(self, size: int, periods: int) -> float:
        """Return T for M of `size` bytes in so many periods."""
        transfer = size * self.seconds_per_byte / periods
        return (periods + self.schedule.height - 1) * (transfer + self.period_latency)

    def best_periods(self, size: int) -> int:
        """Return the number of periods with the least T, messages having a byte at least."""
        most = max(1, size // self.schedule.messages)
        if not self.period_latency:
            return most
        square = (self.schedule.height - 1) * size * self.seconds_per_byte / self.period_latency
        near = isqrt(int(square))
        return min((max(1, min(each, most)) for each in (near, near + 1)), key=lambda each: self.seconds(size, each))

    def point(self, size: int) -> Point:
        """Return what M of `size` bytes takes, in the best number of periods."""
        periods = self.best_periods(size)
        seconds, pieces = self.seconds(size, periods), periods * self.schedule.messages
        return point_at(self.schedule, size=size, seconds=seconds, pieces=pieces, part=1)
