"""The active transfers of a simulation: how far each is, and which ends next.

Transfers of one flow have the same rate at any time. So one number for each flow, the bytes that each of its active
transfers has moved since the flow was last idle, says how far all of them are: a transfer ends when that number reaches
the number at its start plus its size.
"""

import heapq
from collections.abc import Callable

import numpy as np

from forestcoll.simulation.program.sharing import Sharing

_NEVER = float("inf")


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
