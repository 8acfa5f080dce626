"""The exact data that crosses each link at each step of a schedule.

Loads are integers over a common denominator, in 64 bits if they fit, otherwise Python integers.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.loads import LinkLoads
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.routes import carried_by_links
from forestcoll.schedule.steps.value import StepSchedule, Transfers


@dataclass(frozen=True)
class StepLoads:
    """The data that the transfers of a phase send over links.

    Attributes:
        carried: for each step and each link, the data as a number of parts of M.
        whole: the number of parts of M.
    """

    carried: npt.NDArray[Any]
    whole: int


def step_loads(schedule: StepSchedule, sent: Transfers) -> StepLoads:
    """Return the data that `sent`, transfers of `schedule`, send over links.

    Raises:
        ValueError: a transfer or a route crosses no link.
    """
    sizes, whole = _sizes(schedule, sent)
    crossing = carried_by_links(schedule, sent, sizes)
    carried = np.zeros((sent.steps, len(schedule.topology.links)), dtype=sizes.dtype)
    np.add.at(carried, (crossing.steps, crossing.links), crossing.amounts)
    return StepLoads(carried, whole)


def greatest_receipts(schedule: StepSchedule, sent: Transfers) -> list[Fraction]:
    """Return, for each step of `sent`, the greatest part of M that one node receives."""
    if not len(sent):
        return [Fraction(0)] * sent.steps
    sizes, whole = _sizes(schedule, sent)
    received = np.zeros((sent.steps, len(schedule.topology.nodes)), dtype=sizes.dtype)
    np.add.at(received, (sent.step_of, _first_of_orbit(schedule)[sent.targets]), sizes)
    return [Fraction(int(most), whole) for most in received.max(axis=1).tolist()]


def _first_of_orbit(schedule: StepSchedule) -> IntArray:
    """Return the least node of the orbit of each node: all compute nodes of an orbit receive the same amounts."""
    every: IntArray = np.arange(len(schedule.topology.nodes), dtype=np.int32)
    return every if schedule.symmetry is None else reduce(np.minimum, schedule.symmetry.elements(len(every)))


def _sizes(schedule: StepSchedule, sent: Transfers) -> tuple[npt.NDArray[Any], int]:
    """Return the size of each transfer as a number of parts of M, and the number of parts of M."""
    shards = schedule.shard_sizes
    denominator = lcm(*(point.denominator for point in sent.points))
    unit = lcm(*(shard.denominator for shard in shards))
    whole = denominator * unit
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    dtype = np.int64 if whole * max(len(sent) * order, 1) <= np.iinfo(np.int64).max else object
    points = np.array([int(point * denominator) for point in sent.points], dtype=dtype)
    weights = np.array([int(shard * unit) for shard in shards], dtype=dtype)
    return (points[sent.highs] - points[sent.lows]) * weights[sent.shards], whole


def total_loads(schedule: StepSchedule) -> LinkLoads:
    """Return the data that crosses each link at all steps together."""
    schedule = expanded_steps(schedule)
    totals = [Fraction(0)] * len(schedule.topology.links)
    for phase in schedule.phases:
        loads = step_loads(schedule, phase.transfers)
        sums = loads.carried.sum(axis=0).tolist()
        totals = [total + Fraction(int(each), loads.whole) for total, each in zip(totals, sums, strict=True)]
    return LinkLoads.of_parts(totals)
