"""How long a step schedule takes (§3.2): its steps in hops, and the loads of its busiest links in bandwidth.

A step is over when its busiest link is. Loads are exact: integers over a common denominator where they fit 64 bits,
Python's integers elsewhere.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.topology import Topology


@dataclass(frozen=True)
class StepShape(Shape):
    """The steps of a schedule and their times.

    Attributes:
        steps: how many steps there are: T_L in hops.
        step_times: of each step the time for one unit of M, the greatest load / bandwidth of a link: M over the
            topology's bandwidth unit.
        egress: B, the greatest total bandwidth of the links that leave a node; all have the same in a regular network.
    """

    steps: int
    step_times: tuple[Fraction, ...]
    egress: Fraction

    @property
    def hops(self) -> int:
        """As `Shape.hops`: a link at each step."""
        return self.steps

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B for one unit of M, the sum over all steps (2)."""
        return sum(self.step_times, Fraction(0))

    @property
    def bandwidth_factor(self) -> Fraction:
        """T_B in units of M/B."""
        return self.bandwidth_time * self.egress

    @property
    def algbw(self) -> Fraction | None:
        """M / T_B, what large data come to, in the topology's unit; None if nothing is sent."""
        return 1 / self.bandwidth_time if self.bandwidth_time else None


def step_shape(schedule: StepSchedule) -> StepShape:
    """Return the shape of `schedule`; every transfer must cross a link of the topology.

    Raises:
        ValueError: a transfer crosses no link.
    """
    times: list[Fraction] = []
    for phase in schedule.phases:
        times.extend(_step_times(phase.transfers, schedule))
    return StepShape(schedule.steps, tuple(times), max(schedule.topology.egress))


def link_numbers(topology: Topology, sources: IntArray, targets: IntArray) -> npt.NDArray[np.int64]:
    """Return the number of the link from each source to its target.

    Raises:
        ValueError: there is none.
    """
    nodes = len(topology.nodes)
    codes = np.fromiter((link.source * nodes + link.target for link in topology.links), np.int64, len(topology.links))
    wanted = sources.astype(np.int64) * nodes + targets
    found = np.searchsorted(codes, wanted)
    if len(wanted) and (found.max() >= len(codes) or not np.array_equal(codes[found], wanted)):
        raise ValueError("a transfer crosses no link")
    return found


def _step_times(transfers: Transfers, schedule: StepSchedule) -> list[Fraction]:
    """Return of each step the greatest load / bandwidth, a load being a fraction of M."""
    if not len(transfers):
        return [Fraction(0)] * transfers.steps
    topology, shards = schedule.topology, schedule.shard_sizes
    denominator = lcm(*(point.denominator for point in transfers.points))
    unit = lcm(*(shard.denominator for shard in shards))
    whole = denominator * unit
    dtype = np.int64 if whole * len(transfers) <= np.iinfo(np.int64).max else object
    points = np.array([int(point * denominator) for point in transfers.points], dtype=dtype)
    weights = np.array([int(shard * unit) for shard in shards], dtype=dtype)
    links = link_numbers(topology, transfers.sources, transfers.targets)
    loads = np.zeros((transfers.steps, len(topology.links)), dtype=dtype)
    sizes = (points[transfers.highs] - points[transfers.lows]) * weights[transfers.shards]
    np.add.at(loads, (transfers.step_of, links), sizes)
    bandwidths = [link.bandwidth for link in topology.links]
    return [greatest / whole for greatest in _greatest_times(loads, bandwidths)]


def _greatest_times(loads: npt.NDArray[np.generic], bandwidths: list[Fraction]) -> list[Fraction]:
    """Return of each row the greatest load / bandwidth: the greatest load of each distinct bandwidth decides."""
    distinct = sorted(set(bandwidths))
    place_of = {bandwidth: place for place, bandwidth in enumerate(distinct)}
    class_of = np.array([place_of[bandwidth] for bandwidth in bandwidths])
    greatest = [Fraction(0)] * len(loads)
    for place, bandwidth in enumerate(distinct):
        peaks = loads[:, class_of == place].max(axis=1).tolist()
        greatest = [max(time, peak / bandwidth) for time, peak in zip(greatest, peaks, strict=True)]
    return greatest
