"""Measures a cluster: sizes of the sends, the runs of each step, and the medians, which rank 0 collects.

All ranks know all steps, and each rank keeps the times of what it sends. So the ranks only meet between sends, and
the times travel once, at the end.
"""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.measurement.probe.plan import INSIDE_AND_OUTSIDE, SendPattern, Step, steps_of
from forestcoll.measurement.probe.transport import BACKENDS, Transport, backend_name, transport_of
from forestcoll.runtime.environment import host_here
from forestcoll.runtime.launch import Launch
from forestcoll.topology.importers.measurements.document import (
    Host,
    Latency,
    Measurement,
    Measurements,
    Probe,
    checked_hosts,
)

_LONG_ENOUGH = 0.005
"""Sends of this many seconds are long enough: the start of a transfer is a small part of them."""

_STAGES = {
    "pair": "measuring pairs of ranks of a host",
    "disjoint-pairs": "measuring disjoint pairs of ranks",
    "one-to-all": "measuring one rank to all of its host",
    "all-to-one": "measuring all ranks of a host to one",
    "host-pair": "measuring one rank to another host",
    "two-ranks": "measuring two ranks to another host",
    "all-ranks": "measuring all ranks of a host to another host",
    INSIDE_AND_OUTSIDE: "measuring one rank to its host and to another host",
    "all-hosts": "measuring all hosts at the same time",
}


@dataclass(frozen=True)
class ProbeRequest:
    """How a cluster is measured.

    Attributes:
        sizes: bytes of a send, in rising order. The least one is used that takes at least 5 ms, else the greatest.
        repeat: how many runs a time is the median of.
        backend: `gloo`, `nccl`, `mpi`, or `auto` for the one that the launcher and the machine suggest.

    Raises:
        InputError: an argument is not valid.
    """

    sizes: tuple[int, ...] = tuple(2**power for power in range(20, 31))
    repeat: int = 3
    backend: str = "auto"

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1 or list(self.sizes) != sorted(set(self.sizes)):
            raise InputError(f"probe: sizes are {shown(list(self.sizes))}; give rising sizes of 1 byte or more")
        if self.repeat < 1:
            raise InputError(f"probe: repeat is {self.repeat}; use 1 or more")
        if self.backend not in BACKENDS:
            raise InputError(f"probe: backend is {shown(self.backend)}; use one of {', '.join(BACKENDS)}")


def probe(launch: Launch, request: ProbeRequest | None = None, *, progress: Progress = SILENT) -> Measurements | None:
    """Measure the cluster on which processes were started together; all of them call this.

    Args:
        launch: this process among the others, as `forestcoll.runtime.launch.join` returns it.
        request: how the cluster is measured; that of rank 0 counts.
        progress: receives the number of finished steps.

    Returns:
        The measurements on rank 0, None on the others.

    Raises:
        InputError: an argument is bad, or there are fewer than two processes.
        CommunicationError: another process failed, or did not answer in time.

    Example:
        `probe(join(command="probe"))`
    """
    if launch.size < 2:
        raise InputError("probe: there is one process; start two or more")
    request = _agreed(launch, request or ProbeRequest())
    launch.only_first(lambda: backend_name(launch, request.backend))
    backend = launch.share(backend_name(launch, request.backend) if launch.rank == 0 else "")
    names = _names(launch)
    launch.only_first(lambda: checked_hosts(names))
    hosts = checked_hosts(names)
    transport = transport_of(backend, launch)
    session = _Session(launch, transport, hosts, request)
    found = session.measured(backend, progress)
    transport.close()
    return found


def _agreed(launch: Launch, request: ProbeRequest) -> ProbeRequest:
    """Return the request of rank 0."""
    values = json.loads(launch.share(json.dumps(asdict(request))))
    return ProbeRequest(**values | {"sizes": tuple(values["sizes"])})


def _names(launch: Launch) -> list[str]:
    """Return the host of each rank."""
    found = launch.gather(host_here())
    names: list[str] = json.loads(launch.share(json.dumps(found)))
    return names


@dataclass(frozen=True)
class _Sizes:
    """The bytes of sends inside of a host, between hosts, and inside of a host next to one between hosts."""

    inside: int
    between: int
    beside: int


@dataclass
class _Session:
    launch: Launch
    transport: Transport
    hosts: tuple[Host, ...]
    request: ProbeRequest

    def measured(self, backend: str, progress: Progress) -> Measurements | None:
        """Measure everything; return the measurements on rank 0."""
        progress.begin("choosing sizes")
        sizes = self._sizes()
        steps = steps_of([host.ranks for host in self.hosts])
        latencies = self._latencies()
        times: list[list[float]] = []
        for number, step in enumerate(steps):
            if not number or steps[number - 1][0].kind != step[0].kind:
                progress.begin(_STAGES[step[0].kind])
            times.append(self._runs([(pair, self._size(sizes, sends, pair)) for sends in step for pair in sends.pairs]))
            progress.advance(number + 1, len(steps))
        progress.begin("collecting times")
        own = [[each.source, each.target, float(each.seconds)] for each in latencies]
        every = self.launch.gather([[[round(each, 9) for each in runs] for runs in times], own])
        return self._collected(backend, steps, sizes, every) if self.launch.rank == 0 else None

    def _size(self, sizes: _Sizes, sends: SendPattern, pair: tuple[int, int]) -> int:
        """Return the bytes of a send. Sends that share an end are smaller: together they take twice as long as one."""
        if self.host_of[pair[0]] == self.host_of[pair[1]]:
            size = sizes.beside if sends.kind == INSIDE_AND_OUTSIDE else sizes.inside
        else:
            size = sizes.between
        return size if sends.fan <= 2 else max(1, 2 * size // sends.fan)

    @cached_property
    def host_of(self) -> dict[int, int]:
        """The place of the host of each rank."""
        return {rank: place for place, host in enumerate(self.hosts) for rank in host.ranks}

    def _runs(self, sends: Sequence[tuple[tuple[int, int], int]], repeat: int | None = None) -> list[float]:
        """Make the sends several times; return the seconds until all that this rank sent was answered, if it sends."""
        own = self.launch.rank
        receives = [(source, size) for (source, target), size in sends if target == own]
        leaving = [(target, size) for (source, target), size in sends if source == own]
        seconds = [self.transport.exchange(receives, leaving) for _ in range(repeat or self.request.repeat)]
        return seconds if leaving else []

    def _sizes(self) -> _Sizes:
        """Return the sizes that take long enough on the first pair inside of a host, and on the first between hosts."""
        inside, inside_seconds = self._long_enough(self._first_inside())
        between, between_seconds = self._long_enough(self._first_between())
        beside = inside
        while inside_seconds and beside < self.request.sizes[-1] and inside_seconds * beside < between_seconds * inside:
            beside *= 2
        return _Sizes(inside, between, beside)

    def _first_inside(self) -> tuple[int, int] | None:
        ranks = next((host.ranks for host in self.hosts if len(host.ranks) > 1), None)
        return None if ranks is None else (ranks[0], ranks[1])

    def _first_between(self) -> tuple[int, int] | None:
        return (self.hosts[0].ranks[0], self.hosts[1].ranks[0]) if len(self.hosts) > 1 else None

    def _long_enough(self, pair: tuple[int, int] | None) -> tuple[int, float]:
        """Return the least size that takes long enough between two ranks, and its seconds."""
        if pair is None:
            return self.request.sizes[0], 0.0
        for size in self.request.sizes:
            runs = self._runs([(pair, size)], 2)
            found = self.launch.gather(min(runs) if runs else None)
            seconds = float(self.launch.share(str(found[pair[0]] if found else "")))
            if seconds >= _LONG_ENOUGH:
                break
        return size, seconds

    def _latencies(self) -> list[Latency]:
        """Exchange short messages between two ranks of each host, and of the first two hosts; return the own times."""
        inside = [(host.ranks[0], host.ranks[1]) for host in self.hosts if len(host.ranks) > 1]
        between = self._first_between()
        found = []
        for pairs in ([*inside], [between] if between else []):
            self.transport.meet()
            for one, other in pairs:
                if self.launch.rank in (one, other):
                    asks = self.launch.rank == one
                    seconds = self.transport.answer_seconds(other if asks else one, asks=asks) / 2
                    found += [Latency(one, other, _rounded(seconds))] if asks else []
        return found

    def _collected(self, backend: str, steps: Sequence[Step], sizes: _Sizes, every: Sequence[Any]) -> Measurements:
        """Return the medians of the times of all ranks."""
        measured = []
        for number, step in enumerate(steps):
            for sends in step:
                flows = [
                    Probe(*pair, self._size(sizes, sends, pair), _rounded(statistics.median(every[pair[0]][0][number])))
                    for pair in sends.pairs
                ]
                measured.append(Measurement(sends.kind, tuple(flows)))
        latencies = [Latency(one, other, Fraction(seconds)) for each in every for one, other, seconds in each[1]]
        return Measurements(self.hosts, backend, self.request.repeat, tuple(measured), tuple(latencies))


def _rounded(seconds: float) -> Fraction:
    """Return seconds in whole nanoseconds, at least one."""
    return Fraction(max(1, round(seconds * 10**9)), 10**9)
