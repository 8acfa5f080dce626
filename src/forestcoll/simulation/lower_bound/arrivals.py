"""How fast data can reach a member: the common form of the bounds of `distances` and `flows_over_time`."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.topology import Topology


@dataclass(frozen=True)
class Arrival:
    """Data that must reach a member on paths of different numbers of sends.

    A send takes at least the time L, and an instruction the overhead o (see `hop_bounds`). Bytes that make h sends one
    after the other leave after o, and are there h·L later. So paths of h(i) sends and b(i) bytes in a microsecond bring
    at most the sum over i of b(i)·max(0, T - h(i)·L - o) in the time T.

    Attributes:
        part: the data, as a part of M.
        rates: for each number of sends, in ascending order: the number, and the bytes that arrive in a microsecond.
    """

    part: float
    rates: tuple[tuple[int, float], ...]

    @staticmethod
    def of(part: float, topology: Topology, paths: Iterable[tuple[int, Fraction]]) -> "Arrival":
        """Return an arrival on paths of given sends and bandwidths, in the unit of the network."""
        found: dict[int, Fraction] = {}
        for sends, bandwidth in paths:
            found[sends] = found.get(sends, Fraction(0)) + bandwidth
        unit = bytes_per_microsecond(topology.bandwidth_unit)
        return Arrival(part, tuple((sends, float(bandwidth * unit)) for sends, bandwidth in sorted(found.items())))

    def microseconds(self, size: float, send_us: float, overhead_us: float) -> float:
        """Return the least time in which the data arrives, for M of `size` bytes.

        What arrives is the greatest sum over any of the paths without the maximum, so the least time is the least one
        over the paths of the fewest sends.
        """
        most, rate, late = [], 0.0, 0.0
        for sends, more in self.rates:
            rate += more
            late += more * (sends * send_us + overhead_us)
            most.append((size * self.part + late) / rate)
        return min(most)
