"""Values that the rules of step schedules use: how shards spread, and the exact load of every link at every step."""

from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.verification.network import ExactArray, Network
from forestcoll.verification.steps.spread import Spread


class StepCase:
    """A step schedule under test. A property relies on all rules that are applied before the rules that use it."""

    def __init__(self, schedule: StepSchedule) -> None:
        self.schedule = schedule
        self.network = Network(schedule.topology)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """For each phase, how shards spread; a reduce is read backwards (Theorem 1)."""
        return tuple(Spread.of(phase, len(self.schedule.topology.nodes)) for phase in self.schedule.phases)

    @cached_property
    def step_times(self) -> tuple[Fraction, ...]:
        """For each step, the greatest load / bandwidth of a link; loads are fractions of M."""
        times = [self._times(phase.transfers) for phase in self.schedule.phases]
        return tuple(time for of_phase in times for time in of_phase)

    @cached_property
    def algbw(self) -> Fraction | None:
        """M / T_B, the bandwidth for large data; None if nothing is sent."""
        time = sum(self.step_times, Fraction(0))
        return 1 / time if time else None

    def _times(self, transfers: Transfers) -> list[Fraction]:
        loads, links, steps, whole = self._loads(transfers)
        distinct, class_of = self.network.bandwidths
        greatest = np.zeros((transfers.steps, len(distinct)), dtype=loads.dtype)
        np.maximum.at(greatest, (steps, class_of[links]), loads)
        return [
            max(int(load) / bandwidth / whole for load, bandwidth in zip(row, distinct, strict=True))
            for row in greatest.tolist()
        ]

    def _loads(self, transfers: Transfers) -> tuple[ExactArray, IntArray, IntArray, int]:
        """Return, for each link used at a step, its load, link and step; and the number of load units of M."""
        shards = self.schedule.shard_sizes
        parts, unit = (
            lcm(*(point.denominator for point in transfers.points)),
            lcm(*(each.denominator for each in shards)),
        )
        fits = parts * unit * max(len(transfers), 1) <= np.iinfo(np.int64).max
        points, weights = (
            np.array([int(value * whole) for value in values], dtype=np.int64 if fits else object)
            for values, whole in ((transfers.points, parts), (shards, unit))
        )
        links = self.network.find_links(transfers.sources, transfers.targets)
        codes = transfers.step_of.astype(np.int64) * len(self.network.sources) + links
        order = np.argsort(codes)
        codes, begins = np.unique(codes[order], return_index=True)
        sizes = ((points[transfers.highs] - points[transfers.lows]) * weights[transfers.shards])[order]
        loads = np.add.reduceat(sizes, begins) if len(begins) else sizes
        return loads, codes % len(self.network.sources), codes // len(self.network.sources), parts * unit
