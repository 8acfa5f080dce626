"""What sending costs, and what comes out of it."""

from dataclasses import dataclass
from math import isfinite

from forestcoll.collective import Collective
from forestcoll.errors import InputError
from forestcoll.schedule.schedule import Schedule
from forestcoll.units import bytes_per_microsecond


@dataclass(frozen=True, slots=True)
class Costs:
    """The alpha-beta model: beta is the bandwidth of each link, from the network.

    Attributes:
        alpha_us: the time from the start of a send to the arrival of its first byte, in microseconds; what a network
            states as the latency of links comes on top.
        overhead_us: the time that each chunk takes besides, wherever it passes: with none, chunks could be as small as
            one likes.
    """

    alpha_us: float = 5.0
    overhead_us: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha_us), ("overhead", self.overhead_us)):
            if not (isfinite(value) and 0 <= value <= 10**9):
                raise InputError(f"{name} is {value} microseconds; it must be between 0 and 10^9")


@dataclass(frozen=True, slots=True)
class Point:
    """One size of message.

    Attributes:
        size: M in bytes.
        seconds: how long it takes.
        algbw: M / time, in the network's unit.
        busbw: what nccl-tests calls bus bandwidth, in the same unit.
        pieces: into how many pieces each tree's part is cut, that follow each other.
        chunk_bytes: what the greatest tree's pieces have.
    """

    size: int
    seconds: float
    algbw: float
    busbw: float
    pieces: int
    chunk_bytes: float


def bus_factor(collective: Collective, nodes: int) -> float:
    """Return busbw / algbw, as nccl-tests defines them."""
    if collective.has_root:
        return 1.0
    return (2 if collective is Collective.ALLREDUCE else 1) * (nodes - 1) / nodes


def point_at(schedule: Schedule, *, size: int, seconds: float, pieces: int, part: float) -> Point:
    """Return the point of a time of `schedule`; the greatest `part` of M that goes as one goes in `pieces`.

    Raises:
        InputError: nobody knows the unit of the network's bandwidths.
    """
    topology = schedule.topology
    algbw = size / seconds / float(bytes_per_microsecond(topology.bandwidth_unit) * 10**6)
    busbw = algbw * bus_factor(schedule.collective, len(schedule.members))
    return Point(size, seconds, algbw, busbw, pieces, size * part / pieces)
