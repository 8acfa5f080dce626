"""A step schedule as the rules see it: how shards spread, and the exact load of every link at every step."""

from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.verification.network import ExactArray, Network
from forestcoll.verification.steps.spread import Spread


class StepCase:
    """A step schedule under judgement. A property relies on all rules that stand above those that ask for it."""

    def __init__(self, schedule: StepSchedule) -> None:
        self.schedule = schedule
        self.network = Network(schedule.topology)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """Of each phase how shards spread; a reduce spreads them when it is read backwards (Theorem 1)."""
        return tuple(Spread.of(phase, len(self.schedule.topology.nodes)) for phase in self.schedule.phases)

    @cached_property
    def step_times(self) -> tuple[Fraction, ...]:
        """Of each step the greatest load / bandwidth of a link, loads being fractions of M."""
        times = [self._times(phase.transfers) for phase in self.schedule.phases]
        return tuple(time for of_phase in times for time in of_phase)

    @cached_property
    def algbw(self) -> Fraction | None:
        """M / T_B, what large data come to; None if nothing is sent."""
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
        """Return the load of each link that is used at a step, the link, the step, and what a load is counted in."""
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
