"""The parameters of the alpha-beta model, and its result for one message size."""

from dataclasses import dataclass
from math import isfinite

from forestcoll.collective import Collective
from forestcoll.errors import InputError
from forestcoll.schedule.schedule import Schedule
from forestcoll.units import bytes_per_microsecond


@dataclass(frozen=True, slots=True)
class Costs:
    """The parameters of the alpha-beta model. Beta is the bandwidth of each link, which the network states.

    Attributes:
        alpha_us: the time from the start of a send to the arrival of its first byte, in microseconds. The latency of
            links (`latency_us`), where the network states it, is added.
        overhead_us: the additional time of each chunk at each hop, in microseconds. Without it, the best chunks would
            be infinitely small.

    Raises:
        InputError: a value is negative, not finite, or more than 10^9.

    Example:
        >>> from forestcoll import generate, simulate
        >>> schedule = generate("ring:nodes=3")
        >>> [round(simulate(schedule, [1], Costs(alpha_us=alpha))[0].seconds * 1e6) for alpha in (1, 9)]
        [2, 10]
    """

    alpha_us: float = 5.0
    overhead_us: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha_us), ("overhead", self.overhead_us)):
            if not (isfinite(value) and 0 <= value <= 10**9):
                raise InputError(f"{name} is {value} microseconds; it must be between 0 and 10^9")


@dataclass(frozen=True, slots=True)
class Point:
    """The simulated time of a collective for one message size.

    Attributes:
        size: the total data M, in bytes.
        seconds: the time of the collective, in seconds.
        algbw: the algorithmic bandwidth M / time, in the network's unit.
        busbw: the bus bandwidth as nccl-tests defines it, in the same unit.
        pieces: the number of pieces that the data of each tree is cut into; they follow each other through the tree.
        chunk_bytes: the size of a piece of the tree with the greatest share, in bytes.

    Example:
        >>> from forestcoll import generate, simulate
        >>> point = simulate(generate("ring:nodes=3"), [2**30])[0]
        >>> point.size, point.algbw > point.busbw
        (1073741824, True)
    """

    size: int
    seconds: float
    algbw: float
    busbw: float
    pieces: int
    chunk_bytes: float


def bus_factor(collective: Collective, nodes: int) -> float:
    """Return busbw / algbw, as nccl-tests defines them."""
    if collective in {Collective.BROADCAST, Collective.REDUCE}:
        return 1.0
    return (2 if collective is Collective.ALLREDUCE else 1) * (nodes - 1) / nodes


def point_at(schedule: Schedule, *, size: int, seconds: float, pieces: int, part: float) -> Point:
    """Return the point for a simulated time of `schedule`.

    Args:
        schedule: the schedule.
        size: the total data M, in bytes.
        seconds: the simulated time.
        pieces: the number of pieces.
        part: the greatest part of M that is cut into these pieces.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    topology = schedule.topology
    algbw = size / seconds / float(bytes_per_microsecond(topology.bandwidth_unit) * 10**6)
    busbw = algbw * bus_factor(schedule.collective, len(schedule.members))
    return Point(size, seconds, algbw, busbw, pieces, size * part / pieces)
