"""How transfers that are under way at the same time share the links.

Each gets as much as can be had without taking from one that has less: max-min fair.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Way


class Sharing:
    """The rates of transfers over some ways; those over the same way have the same rate."""

    def __init__(self, ways: Sequence[Way], bandwidths: FloatArray) -> None:
        """Take the ways that transfers may use, and the bytes per second of each link."""
        self._bandwidths = bandwidths
        self._links = np.array([link for way in ways for link in way.links], dtype=np.int64)
        self._weights = np.array([weight for way in ways for weight in way.weights])
        self._of_way = np.repeat(np.arange(len(ways)), [len(way.links) for way in ways])
        self._count = len(ways)
        self._known: dict[bytes, FloatArray] = {}

    def rates(self, transfers: Mapping[int, int]) -> FloatArray:
        """Return the bytes per second that each transfer over each way gets, with so many over each."""
        counts = np.zeros(self._count)
        counts[list(transfers)] = list(transfers.values())
        key = counts.tobytes()
        if key not in self._known:
            self._known[key] = self._filled(counts)
        return self._known[key]

    def _filled(self, counts: FloatArray) -> FloatArray:
        """Raise all rates together; where a link is full, those that cross it stay as they are."""
        rates = np.zeros(self._count)
        free = counts > 0
        left = self._bandwidths.copy()
        while free.any():
            growing = free[self._of_way]
            links = self._links[growing]
            loads = np.bincount(links, (self._weights * counts[self._of_way])[growing], len(left))
            used = loads > 0
            step = (left[used] / loads[used]).min()
            rates[free] += step
            left -= loads * step
            full = used & (left <= self._bandwidths * 1e-9)
            stopped = np.zeros(self._count, dtype=np.bool_)
            stopped[self._of_way[growing & full[self._links]]] = True
            free &= ~stopped
        return rates
