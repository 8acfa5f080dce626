"""One iteration of training, as a timeline of two streams: computing, and communicating (A.4).

The forward pass computes layer after layer. Before and after a layer of experts, an all-to-all holds up the computing.
The backward pass goes through the layers in reverse, likewise. The gradients of layers that are done wait in a bucket;
when it holds `bucket_bytes` or more it is reduced over all nodes, while the computing goes on. The communicating stream
does one collective at a time, in the order in which they were asked for, but for all-to-alls, which the computing waits
for and which therefore go before allreduces that have not begun. The iteration is over when both streams are.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forestcoll.errors import InputError, shown
from forestcoll.training.network import Network
from forestcoll.training.profile import Layer, Profile

DEFAULT_BUCKETS = (10**6, 10**7, 10**8, 10**9)
"""The sizes of buckets that are tried, in bytes: those of the paper."""


class Kind(StrEnum):
    """What a stretch of time is spent on."""

    FORWARD = "forward"
    BACKWARD = "backward"
    ALLREDUCE = "allreduce"
    ALL_TO_ALL = "all-to-all"

    @property
    def is_computing(self) -> bool:
        """Whether the computing stream does it."""
        return self in (Kind.FORWARD, Kind.BACKWARD)


@dataclass(frozen=True)
class Stretch:
    """Something that takes from `begin_us` to `end_us`."""

    kind: Kind
    name: str
    begin_us: float
    end_us: float


@dataclass(frozen=True)
class Iteration:
    """A timeline.

    Attributes:
        stretches: what is done when, in the order in which it begins in each stream.
        bucket_bytes: how large the buckets of gradients are.
    """

    stretches: tuple[Stretch, ...]
    bucket_bytes: int

    @property
    def total_us(self) -> float:
        """How long the iteration takes."""
        return max(stretch.end_us for stretch in self.stretches)

    @property
    def computing_us(self) -> float:
        """How long is computed."""
        return self._sum(Kind.FORWARD) + self._sum(Kind.BACKWARD)

    @property
    def all_to_all_us(self) -> float:
        """How long all-to-alls take, none of it hidden by computing."""
        return self._sum(Kind.ALL_TO_ALL)

    @property
    def allreduce_us(self) -> float:
        """How long allreduces take, hidden by computing or not."""
        return self._sum(Kind.ALLREDUCE)

    @property
    def exposed_allreduce_us(self) -> float:
        """How much of the iteration only waits for allreduces."""
        return self.total_us - self.computing_us - self.all_to_all_us

    def _sum(self, kind: Kind) -> float:
        return sum(each.end_us - each.begin_us for each in self.stretches if each.kind is kind)


class _Streams:
    """The two streams while they are filled; times in microseconds."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._computed = 0.0
        self._communicated = 0.0
        self._waiting: deque[tuple[float, str, int]] = deque()
        self.stretches: list[Stretch] = []

    def compute(self, kind: Kind, layer: Layer) -> None:
        time = float(layer.forward_us if kind is Kind.FORWARD else layer.backward_us)
        if layer.exchange_bytes:
            self._exchange(f"{layer.name}: tokens out", layer.exchange_bytes)
        self.stretches.append(Stretch(kind, layer.name, self._computed, self._computed + time))
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
        self.stretches.append(Stretch(Kind.ALL_TO_ALL, name, begin, end))
        self._computed = self._communicated = end

    def _reduce_until(self, moment: float) -> None:
        """Do the allreduces that can begin before `moment`; the last of them may end after it."""
        while self._waiting:
            asked, name, size = self._waiting[0]
            begin = max(asked, self._communicated)
            if begin >= moment:
                return
            self._waiting.popleft()
            self._communicated = begin + self._network.allreduce_us(size)
            self.stretches.append(Stretch(Kind.ALLREDUCE, name, begin, self._communicated))


def iterate(profile: Profile, network: Network, bucket_bytes: int) -> Iteration:
    """Return the timeline of an iteration with buckets of this size.

    Raises:
        InputError: the size is not 1 byte or more.
    """
    if type(bucket_bytes) is not int or bucket_bytes < 1:
        raise InputError(f"a bucket of {shown(bucket_bytes)} bytes; expected an integer of 1 or more")
    streams = _Streams(network)
    for layer in profile.layers:
        streams.compute(Kind.FORWARD, layer)
    gathered = buckets = 0
    for layer in reversed(profile.layers):
        streams.compute(Kind.BACKWARD, layer)
        gathered += layer.gradient_bytes
        if gathered >= bucket_bytes:
            streams.reduce(f"bucket {buckets}", gathered)
            gathered, buckets = 0, buckets + 1
    if gathered:
        streams.reduce(f"bucket {buckets}", gathered)
    streams.finish()
    return Iteration(tuple(streams.stretches), bucket_bytes)


def best_iteration(profile: Profile, network: Network, buckets: Sequence[int] = DEFAULT_BUCKETS) -> Iteration:
    """Return the shortest iteration over the sizes of buckets; of equals the one with larger buckets.

    Raises:
        InputError: there is no size, or one is not 1 byte or more.
    """
    if not buckets:
        raise InputError("no size of buckets is given; give one or more")
    timelines = [iterate(profile, network, size) for size in buckets]
    return min(timelines, key=lambda each: (each.total_us, -each.bucket_bytes))
