"""The topology as arrays for the rules: flat arrays, look-up of links by their ends, classes of equal bandwidth."""

from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.topology import Topology

BoolArray: TypeAlias = npt.NDArray[np.bool_]
ExactArray: TypeAlias = npt.NDArray[Any]
"""Exact integers: int64, or Python's own in an array of objects."""

MAX_TABLE = 2**25
"""The most pairs of nodes for a look-up table of links; larger networks use binary search."""


class Network:
    """The topology in arrays."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.size = len(topology.nodes)
        links = topology.links
        self.sources = np.fromiter((link.source for link in links), dtype=np.int64, count=len(links))
        self.targets = np.fromiter((link.target for link in links), dtype=np.int64, count=len(links))
        self.is_compute: BoolArray = np.array([node.is_compute for node in topology.nodes])
        self.can_aggregate: BoolArray = np.array([node.aggregation for node in topology.nodes])
        self.can_multicast: BoolArray = np.array([node.multicast for node in topology.nodes])

    def can_join(self, op: PhaseOp) -> BoolArray:
        """Return which switches the routes of trees that do `op` may begin or end on."""
        return {PhaseOp.REDUCE: self.can_aggregate, PhaseOp.BROADCAST: self.can_multicast}[op]

    def can_branch(self, op: PhaseOp) -> BoolArray:
        """Return the nodes at which trees that do `op` may branch: compute nodes, and switches that can do it."""
        return self.is_compute | self.can_join(op)

    def find_links(self, sources: IntArray, targets: IntArray) -> IntArray:
        """Return the number of the link from each source to its target, or -1 if there is no link."""
        wanted = sources.astype(np.int64) * self.size + targets
        if self._table is not None:
            found: IntArray = self._table[wanted]
            return found
        codes, order = self._sorted_codes
        if not len(codes):
            return np.full(len(sources), -1)
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[places] == wanted, order[places], -1)

    @cached_property
    def _table(self) -> IntArray | None:
        """The number of the link between every two nodes, or -1; None if there are too many pairs of nodes."""
        if self.size**2 > MAX_TABLE:
            return None
        table = np.full(self.size**2, -1, dtype=np.int32)
        # If several links have the same ends, the first is used, so it is written last.
        table[(self.sources * self.size + self.targets)[::-1]] = np.arange(len(self.sources), dtype=np.int32)[::-1]
        return table

    @cached_property
    def _sorted_codes(self) -> tuple[IntArray, IntArray]:
        codes = self.sources * self.size + self.targets
        order = np.argsort(codes, kind="stable")
        return codes[order], order

    @cached_property
    def bandwidths(self) -> tuple[tuple[Fraction, ...], IntArray]:
        """The distinct bandwidths, usually few, and for each link the index of its bandwidth."""
        classes: dict[tuple[int, int], int] = {}
        pairs = (link.bandwidth.as_integer_ratio() for link in self.topology.links)
        numbers = (classes.setdefault(pair, len(classes)) for pair in pairs)
        class_of = np.fromiter(numbers, dtype=np.int64, count=len(self.topology.links))
        return tuple(Fraction(*pair) for pair in classes), class_of

    def busiest(self, loads: ExactArray) -> tuple[Fraction, IntArray]:
        """Return the greatest time that a link needs for its load, and the links that need this time.

        Args:
            loads: the load of each link.
        """
        distinct, class_of = self.bandwidths
        peaks = np.zeros(len(distinct), dtype=loads.dtype)
        np.maximum.at(peaks, class_of, loads)
        times = [int(peak) / bandwidth for peak, bandwidth in zip(peaks.tolist(), distinct, strict=True)]
        longest = max(times, default=Fraction(0))
        is_peak = np.array([time == longest for time in times], dtype=np.bool_)
        return longest, np.flatnonzero(is_peak[class_of] & (loads == peaks[class_of]))

    def exit_bandwidth(self, inside: BoolArray) -> Fraction:
        """Return the total bandwidth of the links that leave the nodes marked in `inside`."""
        return self.total_bandwidth(inside[self.sources] & ~inside[self.targets])

    def total_bandwidth(self, links: BoolArray) -> Fraction:
        """Return the total bandwidth of the marked links."""
        distinct, class_of = self.bandwidths
        counts = np.bincount(class_of[links], minlength=len(distinct)).tolist()
        return exact_sum(count * each for count, each in zip(counts, distinct, strict=True))
