"""The time of a step schedule (§3.2): the number of steps, and the loads of the busiest links.

A step ends when its busiest link is done. Loads are exact: integers over a common denominator, in 64 bits if they fit,
otherwise Python integers.
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
        steps: the number of steps: T_L in hops.
        step_times: for each step, the time for one unit of M: the greatest load / bandwidth of a link, in units of
            M over the topology's bandwidth unit.
        egress: B, the greatest total bandwidth of the links that leave a node. In a regular network it is the same for
            all nodes.

    Example:
        >>> from forestcoll import build_topology, generate_steps, shape_of
        >>> shape = shape_of(generate_steps(build_topology("ring:nodes=4")))
        >>> shape.steps, str(shape.algbw), str(shape.bandwidth_factor)
        (2, '8/3', '3/4')
    """

    steps: int
    step_times: tuple[Fraction, ...]
    egress: Fraction

    @property
    def hops(self) -> int:
        """One link at each step; see `Shape.hops`."""
        return self.steps

    @property
    def bandwidth_time(self) -> Fraction:
        """T_B for one unit of M: the sum of `step_times` (equation 2)."""
        return sum(self.step_times, Fraction(0))

    @property
    def bandwidth_factor(self) -> Fraction:
        """T_B in units of M/B."""
        return self.bandwidth_time * self.egress

    @property
    def algbw(self) -> Fraction | None:
        """M / T_B, the bandwidth for large data, in the topology's unit; None if nothing is sent."""
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
        ValueError: a link does not exist.
    """
    nodes = len(topology.nodes)
    codes = np.fromiter((link.source * nodes + link.target for link in topology.links), np.int64, len(topology.links))
    wanted = sources.astype(np.int64) * nodes + targets
    found = np.searchsorted(codes, wanted)
    if len(wanted) and (found.max() >= len(codes) or not np.array_equal(codes[found], wanted)):
        raise ValueError("a transfer crosses no link")
    return found


def _step_times(transfers: Transfers, schedule: StepSchedule) -> list[Fraction]:
    """Return, for each step, the greatest load / bandwidth of a link; loads are fractions of M."""
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
    """Return, for each row, the greatest load / bandwidth; only the greatest load of each bandwidth matters."""
    distinct = sorted(set(bandwidths))
    place_of = {bandwidth: place for place, bandwidth in enumerate(distinct)}
    class_of = np.array([place_of[bandwidth] for bandwidth in bandwidths])
    greatest = [Fraction(0)] * len(loads)
    for place, bandwidth in enumerate(distinct):
        peaks = loads[:, class_of == place].max(axis=1).tolist()
        greatest = [max(time, peak / bandwidth) for time, peak in zip(greatest, peaks, strict=True)]
    return greatest
