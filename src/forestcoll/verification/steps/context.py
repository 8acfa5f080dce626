"""Values that the rules of step schedules use: how shards spread, and the exact load of every link at every step."""

from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm

import numpy as np

from forestcoll.base.exact import exact_sum
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.verification.network import ExactArray
from forestcoll.verification.routes.context import RouteContext
from forestcoll.verification.steps.spread import Spread


class StepContext(RouteContext):
    """A step schedule under test. A property relies on all rules that are applied before the rules that use it."""

    def __init__(self, schedule: StepSchedule) -> None:
        super().__init__(schedule.topology, schedule.ranks, schedule.routes, schedule.symmetry)
        self.schedule = schedule

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """For each phase, how the first shard of each orbit spreads; a reduce is read backwards (Theorem 1)."""
        return tuple(Spread.of(phase, self.group) for phase in self.schedule.phases)

    @cached_property
    def step_times(self) -> tuple[Fraction, ...]:
        """For each step, the greatest load / bandwidth of a link; loads are fractions of M."""
        times = [self._times(phase.transfers) for phase in self.schedule.phases]
        return tuple(time for of_phase in times for time in of_phase)

    @cached_property
    def algbw(self) -> Fraction:
        """M / T_B, the bandwidth for large data."""
        return 1 / exact_sum(self.step_times)

    @cached_property
    def route_hops(self) -> tuple[IntArray, IntArray]:
        """For each hop of each route, its place in the entries of the routes, and its link, or -1 for no link."""
        return self.hops(self.routes)

    def _crossed(self, transfers: Transfers, sizes: ExactArray) -> tuple[IntArray, IntArray, ExactArray]:
        """Return steps, links and amounts: what crosses the links at the steps, in any order, some links twice."""
        steps = transfers.step_of.astype(np.int64)
        if transfers.routes is None:
            return steps, self.network.find_links(transfers.sources, transfers.targets), sizes
        own, routed = np.flatnonzero(transfers.routes < 0), np.flatnonzero(transfers.routes >= 0)
        count = len(self.schedule.routes)
        codes, amounts = _summed(steps[routed] * count + transfers.routes[routed], sizes[routed])
        links, lengths = self._links_of(codes % count)
        return (
            np.concatenate([steps[own], np.repeat(codes // count, lengths)]),
            np.concatenate([self.network.find_links(transfers.sources[own], transfers.targets[own]), links]),
            np.concatenate([sizes[own], np.repeat(amounts, lengths)]),
        )

    def _links_of(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """Return the links of the routes with these numbers, one route after the other, and how many each has."""
        of_hop = np.empty(len(self.schedule.routes.entries), dtype=np.int64)
        places, links = self.route_hops
        of_hop[places] = links
        starts = self.schedule.routes.starts.astype(np.int64)
        lengths = starts[numbers + 1] - starts[numbers] - 1
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return of_hop[np.repeat(starts[numbers], lengths) + offsets], lengths

    def _times(self, transfers: Transfers) -> list[Fraction]:
        loads, links, steps, whole = self._loads(transfers)
        loads, links, steps = self._with_images(loads, links, steps, transfers.steps)
        distinct, class_of = self.network.bandwidths
        greatest = np.zeros((transfers.steps, len(distinct)), dtype=loads.dtype)
        np.maximum.at(greatest, (steps, class_of[links]), loads)
        return [
            max(int(load) / bandwidth / whole for load, bandwidth in zip(row, distinct, strict=True))
            for row in greatest.tolist()
        ]

    def _with_images(
        self, loads: ExactArray, links: IntArray, steps: IntArray, count: int
    ) -> tuple[ExactArray, IntArray, IntArray]:
        """Return the loads of all images of transfers, from those of base transfers, in the order of the steps."""
        if not self.group.shifts:
            return loads, links, steps
        summed = []
        for begin, end in pairwise(np.searchsorted(steps, np.arange(count + 1)).tolist()):
            of_step = np.zeros(len(self.network.sources), dtype=loads.dtype)
            of_step[links[begin:end]] = loads[begin:end]
            summed.append(self.group.summed(of_step))
        every = np.arange(len(self.network.sources))
        return np.concatenate(summed), np.tile(every, count), np.repeat(np.arange(count), len(every))

    def _loads(self, transfers: Transfers) -> tuple[ExactArray, IntArray, IntArray, int]:
        """Return, for each link used at a step, its load, link and step; and the number of load units of M."""
        shards = self.schedule.shard_sizes
        parts, unit = (
            lcm(*(point.denominator for point in transfers.points)),
            lcm(*(each.denominator for each in shards)),
        )
        fits = parts * unit * len(transfers) * self.group.order <= np.iinfo(np.int64).max
        points, weights = (
            np.array([int(value * whole) for value in values], dtype=np.int64 if fits else object)
            for values, whole in ((transfers.points, parts), (shards, unit))
        )
        sizes = (points[transfers.highs] - points[transfers.lows]) * weights[transfers.shards]
        steps, links, sizes = self._crossed(transfers, sizes)
        count = len(self.network.sources)
        codes, loads = _summed(steps * count + links, sizes)
        return loads, codes % count, codes // count, parts * unit


def _summed(codes: IntArray, sizes: ExactArray) -> tuple[IntArray, ExactArray]:
    """Return the distinct codes, in ascending order, and the sum of the sizes of each."""
    order = np.argsort(codes)
    distinct, begins = np.unique(codes[order], return_index=True)
    return distinct, np.add.reduceat(sizes[order], begins)
