"""The active transfers of a simulation: how far each is, and which ends next.

Transfers of one flow have the same rate at any time. So one number for each flow, the bytes that each of its active
transfers has moved since the flow was last idle, says how far all of them are: a transfer ends when that number reaches
the number at its start plus its size.
"""

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Multipath

_NEVER = float("inf")


class Sharing:
    """The rates of transfers that share the links by max-min fairness; those of a flow have the same rate."""

    def __init__(self, multipaths: Sequence[Multipath], bandwidths: FloatArray) -> None:
        """Take the links of each flow, and the bandwidth of each link in bytes per second."""
        self._bandwidths = bandwidths
        self._links = np.array([link for each in multipaths for link in each.links], dtype=np.int64)
        self._weights = np.array([weight for each in multipaths for weight in each.weights])
        self._multipath_of = np.repeat(np.arange(len(multipaths)), [len(each.links) for each in multipaths])
        self._count = len(multipaths)
        self._known: dict[bytes, FloatArray] = {}

    def rates(self, counts: FloatArray) -> FloatArray:
        """Return the rate of one transfer of each flow in bytes per second; `counts` are the active transfers by flow.

        The rate of a flow without active transfers is 0.
        """
        key = counts.tobytes()
        if key not in self._known:
            self._known[key] = self._filled(counts)
        return self._known[key]

    def _filled(self, counts: FloatArray) -> FloatArray:
        """Raise all rates together; when a link is full, the rates of the transfers that cross it are final."""
        rates = np.zeros(self._count)
        growing = np.flatnonzero(counts[self._multipath_of])
        links, flows = self._links[growing], self._multipath_of[growing]
        weights = self._weights[growing] * counts[flows]
        free = counts > 0
        left = self._bandwidths.copy()
        while len(links):
            loads = np.bincount(links, weights, len(left))
            used = loads > 0
            step = (left[used] / loads[used]).min()
            rates[free] += step
            left -= loads * step
            full = used & (left <= self._bandwidths * 1e-9)
            stopped = np.zeros(self._count, dtype=np.bool_)
            stopped[flows[full[links]]] = True
            free &= ~stopped
            kept = ~stopped[flows]
            links, flows, weights = links[kept], flows[kept], weights[kept]
        return rates


class Transfers:
    """The active transfers; `sharing` gives their rates."""

    def __init__(self, sharing: Sharing, flows: int) -> None:
        """Start with no transfers of `flows` flows."""
        self._sharing = sharing
        self._counts = np.zeros(flows)
        self._moved = np.zeros(flows)
        self._ends = np.full(flows, _NEVER)
        self._waiting: list[list[tuple[float, int, Callable[[float], None]]]] = [[] for _ in range(flows)]
        self._rates = np.zeros(flows)
        self._stale = False
        self._started = 0
        self._active = 0

    def __len__(self) -> int:
        """Return the number of active transfers."""
        return self._active

    def start(self, flow: int, size: float, done: Callable[[float], None]) -> None:
        """Start a transfer of `size` bytes; `done` is called with the time of its end."""
        waiting = self._waiting[flow]
        if not waiting:
            self._moved[flow] = 0.0
        heapq.heappush(waiting, (self._moved[flow] + size, self._started, done))
        self._ends[flow] = waiting[0][0]
        self._counts[flow] += 1
        self._started += 1
        self._active += 1
        self._stale = True

    def next_end(self) -> float:
        """Return the seconds until the next transfer ends; infinity if none is active."""
        if not self._active:
            return _NEVER
        if self._stale:
            self._rates = self._sharing.rates(self._counts)
            self._stale = False
        return float(self._left().min())

    def _left(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the seconds until the next end in each flow."""
        left = np.full(len(self._counts), _NEVER)
        np.divide(self._ends - self._moved, self._rates, out=left, where=self._rates > 0)
        return left

    def advance(self, seconds: float) -> list[Callable[[float], None]]:
        """Let time pass, and return what to call for the transfers that ended, in the order in which they started.

        `next_end` was called since the last start.
        """
        if not self._active:
            return []
        over = np.flatnonzero(self._left() <= seconds * (1 + 1e-9))
        self._moved += self._rates * seconds
        ended: list[tuple[int, Callable[[float], None]]] = []
        for flow in over.tolist():
            waiting = self._waiting[flow]
            last = waiting[0][0] * (1 + 1e-9)
            while waiting and waiting[0][0] <= last:
                _, number, done = heapq.heappop(waiting)
                ended.append((number, done))
                self._counts[flow] -= 1
            self._ends[flow] = waiting[0][0] if waiting else _NEVER
        self._active -= len(ended)
        self._stale = self._stale or bool(ended)
        return [done for _, done in sorted(ended, key=lambda each: each[0])]
