"""A schedule as the rules see it: flat arrays, and the exact loads that follow from them, each computed when asked for.

Invariant: no number here is ever rounded. Loads are integers, counts of 1/`denominator` of the data M; they stand in
64-bit arrays where a bound proves that no sum overflows, and in arrays of Python integers elsewhere.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.schedule import Schedule
from forestcoll.schedule.model import IntArray
from forestcoll.topology import Topology

BoolArray: TypeAlias = npt.NDArray[np.bool_]
ExactArray: TypeAlias = npt.NDArray[Any]
"""Exact integers: int64, or Python's own in an array of objects."""

MAX_DENOMINATOR_DIGITS = 4000
"""The most digits of the shares' common denominator; beyond it the arithmetic, and printing a sum, take too long."""


@dataclass(frozen=True)
class Pace:
    """How busy the busiest links are.

    Attributes:
        time: the time for one unit of M, the greatest load / bandwidth of a link.
        links: the numbers of the links that need this time, rising.
    """

    time: Fraction
    links: IntArray


class Network:
    """The topology in arrays."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.size = len(topology.nodes)
        links = topology.links
        self.sources = np.fromiter((link.source for link in links), dtype=np.int64, count=len(links))
        self.targets = np.fromiter((link.target for link in links), dtype=np.int64, count=len(links))
        self.is_compute: BoolArray = np.array([node.is_compute for node in topology.nodes], dtype=np.bool_)
        self.can_multicast: BoolArray = np.array([node.multicast for node in topology.nodes], dtype=np.bool_)

    def find_links(self, sources: IntArray, targets: IntArray) -> IntArray:
        """Return the number of the link from each source to its target, -1 where there is none."""
        codes, order = self._sorted_codes
        if not len(codes):
            return np.full(len(sources), -1, dtype=np.int64)
        wanted = sources.astype(np.int64) * self.size + targets
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[places] == wanted, order[places], -1)

    @cached_property
    def _sorted_codes(self) -> tuple[IntArray, IntArray]:
        codes = self.sources * self.size + self.targets
        order = np.argsort(codes, kind="stable")
        return codes[order], order

    @cached_property
    def bandwidths(self) -> tuple[tuple[Fraction, ...], IntArray]:
        """The distinct bandwidths, few as a rule, and which of them each link has."""
        classes: dict[tuple[int, int], int] = {}
        pairs = (link.bandwidth.as_integer_ratio() for link in self.topology.links)
        numbers = (classes.setdefault(pair, len(classes)) for pair in pairs)
        class_of = np.fromiter(numbers, dtype=np.int64, count=len(self.topology.links))
        return tuple(Fraction(*pair) for pair in classes), class_of

    def exit_bandwidth(self, inside: BoolArray) -> Fraction:
        """Return the total bandwidth of the links that leave the nodes marked in `inside`."""
        distinct, class_of = self.bandwidths
        leaving = class_of[inside[self.sources] & ~inside[self.targets]]
        counts = np.bincount(leaving, minlength=len(distinct)).tolist()
        return sum((count * each for count, each in zip(counts, distinct, strict=True) if count), Fraction(0))


class Case:
    """A schedule under judgement. A property may rely on every rule that stands above the rules that ask for it."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.network = Network(schedule.topology)
        self.compute = schedule.topology.compute

    @cached_property
    def hops(self) -> IntArray:
        """Where in the table of routes a hop begins: every entry but the last one of each route."""
        routes = self.schedule.routes
        is_hop = np.ones(len(routes.entries), dtype=np.bool_)
        is_hop[routes.starts[1:] - 1] = False
        return np.flatnonzero(is_hop)

    @cached_property
    def hop_links(self) -> IntArray:
        """The link that each hop crosses, -1 where there is none."""
        entries = self.schedule.routes.entries
        return self.network.find_links(entries[self.hops], entries[self.hops + 1])

    @cached_property
    def firsts(self) -> IntArray:
        """The node that each route starts on."""
        routes = self.schedule.routes
        return routes.entries[routes.starts[:-1]]

    @cached_property
    def lasts(self) -> IntArray:
        """The node that each route ends on."""
        routes = self.schedule.routes
        return routes.entries[routes.starts[1:] - 1]

    @cached_property
    def denominator(self) -> int | None:
        """The common denominator of all shares, or None if it has more than `MAX_DENOMINATOR_DIGITS` digits."""
        common, bound = 1, 10**MAX_DENOMINATOR_DIGITS
        for denominator in {share.denominator for phase in self.schedule.phases for share in phase.shares}:
            common = math.lcm(common, denominator)
            if common >= bound:
                return None
        return common

    @cached_property
    def units(self) -> list[list[int]]:
        """Of each phase, the share of each tree as a count of 1/`denominator`."""
        whole = self.denominator or 0
        return [
            [share.numerator * (whole // share.denominator) for share in phase.shares] for phase in self.schedule.phases
        ]

    @cached_property
    def loads(self) -> ExactArray:
        """What crosses each link in all phases together, as a count of 1/`denominator` of M."""
        routes = self.schedule.routes
        lengths = np.diff(routes.starts) - 1
        dtype = self._load_type(lengths)
        carried = np.zeros(len(routes), dtype=dtype)
        for phase, units in zip(self.schedule.phases, self.units, strict=True):
            per_entry = np.repeat(np.array(units, dtype=dtype), np.diff(phase.routes.starts))
            np.add.at(carried, phase.routes.entries, per_entry)
        loads = np.zeros(len(self.network.sources), dtype=dtype)
        np.add.at(loads, self.hop_links, np.repeat(carried, lengths))
        return loads

    def _load_type(self, lengths: IntArray) -> type[np.int64] | type[object]:
        """Return the narrowest element in which no load overflows: even all crossings on one link must fit."""
        greatest = max((unit for units in self.units for unit in units), default=0)
        crossings = sum(int(lengths[phase.routes.entries].sum(dtype=np.int64)) for phase in self.schedule.phases)
        return np.int64 if greatest * max(crossings, 1) <= np.iinfo(np.int64).max else object

    @cached_property
    def pace(self) -> Pace | None:
        """The busiest links, or None if nothing crosses any link."""
        distinct, class_of = self.network.bandwidths
        peaks = np.zeros(len(distinct), dtype=self.loads.dtype)
        np.maximum.at(peaks, class_of, self.loads)
        times = [int(peak) / bandwidth for peak, bandwidth in zip(peaks.tolist(), distinct, strict=True)]
        longest = max(times, default=Fraction(0))
        if not longest:
            return None
        is_peak = np.array([time == longest for time in times], dtype=np.bool_)
        busiest = np.flatnonzero(is_peak[class_of] & (self.loads == peaks[class_of]))
        return Pace(longest / (self.denominator or 1), busiest)

    @property
    def algbw(self) -> Fraction | None:
        """The algorithmic bandwidth that the schedule achieves, or None if nothing crosses any link."""
        return None if self.pace is None else 1 / self.pace.time
