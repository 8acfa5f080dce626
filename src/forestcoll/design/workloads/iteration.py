"""One iteration of training, as a timeline of two streams: computation and communication (A.4).

The forward pass computes one layer after the other. The computation waits for an all-to-all before and after each
layer of experts. The backward pass does the same with the layers in reverse order. The gradients of finished layers are
collected in a bucket. When the bucket holds `bucket_bytes` or more, it is reduced over all nodes while the computation
continues. The communication stream runs one collective at a time, in the order of the requests. All-to-alls are the
exception: the computation waits for them, so they run before allreduces that have not started. The iteration ends when
both streams have ended.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from forestcoll.base.errors import InputError, shown
from forestcoll.design.workloads.profile import Layer, Profile

DEFAULT_BUCKETS = (10**6, 10**7, 10**8, 10**9)
"""The bucket sizes that are tried, in bytes. They are those of the paper."""


class CollectiveTimes(Protocol):
    """The times of collectives of all nodes of a network, such as `NetworkRates`."""

    def allreduce_us(self, size: int) -> float:
        """Return the time of an allreduce of `size` bytes, in microseconds."""

    def all_to_all_us(self, size: int) -> float:
        """Return the time of an all-to-all in which every node sends `size` bytes in total, in microseconds."""


class Activity(StrEnum):
    """What a time interval is spent on."""

    FORWARD = "forward"
    BACKWARD = "backward"
    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    ALLREDUCE = "allreduce"
    ALL_TO_ALL = "all-to-all"

    @property
    def is_computing(self) -> bool:
        """Whether this is work of the computation stream."""
        return self in (Activity.FORWARD, Activity.BACKWARD)


@dataclass(frozen=True)
class Interval:
    """The time from `begin_us` to `end_us`, in microseconds, with the work done in it."""

    kind: Activity
    name: str
    begin_us: float
    end_us: float


@dataclass(frozen=True)
class Iteration:
    """The timeline of one iteration.

    Attributes:
        intervals: the intervals of both streams. The intervals of one stream are sorted by their start.
        bucket_bytes: the bucket size for gradients; None with a layout, where each layer is reduced by itself.
    """

    intervals: tuple[Interval, ...]
    bucket_bytes: int | None = None

    @property
    def total_us(self) -> float:
        """The duration of the iteration."""
        return max(interval.end_us for interval in self.intervals)

    @property
    def computing_us(self) -> float:
        """The total time of computation."""
        return self.time_us(Activity.FORWARD) + self.time_us(Activity.BACKWARD)

    @property
    def exposed_us(self) -> float:
        """The part of the iteration in which nothing is computed."""
        return self.total_us - self.computing_us

    @property
    def all_to_all_us(self) -> float:
        """The total time of the all-to-alls. Computation hides none of it."""
        return self.time_us(Activity.ALL_TO_ALL)

    @property
    def allreduce_us(self) -> float:
        """The total time of the allreduces, including what computation hides."""
        return self.time_us(Activity.ALLREDUCE)

    @property
    def exposed_allreduce_us(self) -> float:
        """The part of the iteration that only waits for allreduces."""
        return self.total_us - self.computing_us - self.all_to_all_us

    def time_us(self, kind: Activity) -> float:
        """The total time of the intervals of a kind."""
        return sum(each.end_us - each.begin_us for each in self.intervals if each.kind is kind)


class _Streams:
    """The two streams during their construction. Times are in microseconds."""

    def __init__(self, network: CollectiveTimes) -> None:
        self._network = network
        self._computed = 0.0
        self._communicated = 0.0
        self._waiting: deque[tuple[float, str, int]] = deque()
        self.intervals: list[Interval] = []

    def compute(self, kind: Activity, layer: Layer) -> None:
        time = float(layer.forward_us if kind is Activity.FORWARD else layer.backward_us)
        if layer.exchange_bytes:
            self._exchange(f"{layer.name}: tokens out", layer.exchange_bytes)
        self.intervals.append(Interval(kind, layer.name, self._computed, self._computed + time))
        self._computed += time
        if layer.exchange_bytes:
            self._exchange(f"{layer.name}: tokens back", layer.exchange_bytes)

    def reduce(self, name: str, size: int) -> None:
        self._waiting.append((self._computed, name, size))

    def finish(self) -> None:
        self._reduce_until(float("inf"))

    def _exchange(self, name: str, size: int) -> None:
        self._reduce_until(self._computed)
        begin = max(self._computed, self._communicated)
        end = begin + self._network.all_to_all_us(size)
        self.intervals.append(Interval(Activity.ALL_TO_ALL, name, begin, end))
        self._computed = self._communicated = end

    def _reduce_until(self, moment: float) -> None:
        """Run the allreduces that can start before `moment`. The last one may end after `moment`."""
        while self._waiting:
            requested, name, size = self._waiting[0]
            begin = max(requested, self._communicated)
            if begin >= moment:
                return
            self._waiting.popleft()
            self._communicated = begin + self._network.allreduce_us(size)
            self.intervals.append(Interval(Activity.ALLREDUCE, name, begin, self._communicated))


def iterate(profile: Profile, network: CollectiveTimes, bucket_bytes: int) -> Iteration:
    """Return the timeline of an iteration.

    Args:
        profile: the model.
        network: the times of collectives.
        bucket_bytes: the bucket size for gradients.

    Raises:
        InputError: the bucket size is not an integer of 1 or more, or the profile has no layers.
    """
    if type(bucket_bytes) is not int or bucket_bytes < 1:
        raise InputError(f"the bucket size is {shown(bucket_bytes)}; expected an integer of 1 byte or more")
    streams = _Streams(network)
    layers = profile.trained_layers()
    for layer in layers:
        streams.compute(Activity.FORWARD, layer)
    collected = buckets = 0
    for layer in reversed(layers):
        streams.compute(Activity.BACKWARD, layer)
        collected += layer.gradient_bytes
        if collected >= bucket_bytes:
            streams.reduce(f"bucket {buckets}", collected)
            collected, buckets = 0, buckets + 1
    if collected:
        streams.reduce(f"bucket {buckets}", collected)
    streams.finish()
    return Iteration(tuple(streams.intervals), bucket_bytes)


def best_iteration(profile: Profile, network: CollectiveTimes, buckets: Sequence[int] = DEFAULT_BUCKETS) -> Iteration:
    """Return the iteration with the bucket size that gives the shortest time. On a tie, the largest bucket size wins.

    Raises:
        InputError: `buckets` is empty, a bucket size is not an integer of 1 or more, or the profile has no layers.
    """
    if not buckets:
        raise InputError("no bucket size is given; give one or more")
    timelines = [iterate(profile, network, size) for size in buckets]
    return min(timelines, key=lambda each: (each.total_us, -(each.bucket_bytes or 0)))
