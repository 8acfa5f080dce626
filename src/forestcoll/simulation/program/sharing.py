"""How transfers that are active at the same time share the links: max-min fairness.

No transfer can get a higher rate without lowering the rate of a transfer that is not faster.
"""

from collections.abc import Sequence

import numpy as np

from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Multipath


class Sharing:
    """The rates of transfers; transfers of the same flow have the same rate."""

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
