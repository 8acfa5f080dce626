"""The time of a step schedule (§3.2): the number of steps, and the loads of the busiest links.

A step ends when its busiest link is done.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.traffic import greatest_receipts, step_loads
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers


@dataclass(frozen=True)
class StepShape(Shape):
    """The steps of a schedule and their times.

    Attributes:
        steps: the number of steps: T_L.
        step_times: for each step, the time for one unit of M: the greatest load / bandwidth of a link, in units of
            M over the topology's bandwidth unit.
        egress: B, the greatest total bandwidth of the links that leave a compute node that takes part. In a regular
            network it is the same for all nodes.
        links_crossed: for each step, the greatest number of links that a transfer crosses, and at least 1.
        reduction_factor: T_C in units of M times gamma, the time to add up a byte (C.4): the sum, over the steps that
            reduce, of the most data that one node receives. It is 0 without a reduction. On a regular network it is at
            most the bandwidth factor of the reduction (Theorem 6).

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule import shape_of
        >>> from forestcoll.topology import build_topology
        >>> shape = shape_of(generate(build_topology("ring:nodes=4"), method="bfb"))
        >>> shape.steps, str(shape.algbw), str(shape.bandwidth_factor)
        (2, '8/3', '3/4')
    """

    steps: int
    step_times: tuple[Fraction, ...]
    egress: Fraction
    links_crossed: tuple[int, ...]
    reduction_factor: Fraction = Fraction(0)

    @property
    def hops(self) -> int:
        """The sum of `links_crossed`: the number of steps if no transfer has a route; see `Shape.hops`."""
        return sum(self.links_crossed)

    @property
    def sends(self) -> int:
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
    """Return the shape of `schedule`; transfers and routes must cross links of the topology.

    Raises:
        ValueError: a transfer or a route crosses no link.
    """
    schedule = expanded_steps(schedule)
    times: list[Fraction] = []
    crossed: list[int] = []
    for phase in schedule.phases:
        times.extend(_step_times(phase.transfers, schedule))
        crossed.extend(_links_crossed(phase.transfers, schedule))
    egress = max(schedule.topology.egress[node] for node in schedule.members)
    return StepShape(schedule.steps, tuple(times), egress, tuple(crossed), reduction_factor(schedule))


def reduction_factor(schedule: StepSchedule) -> Fraction:
    """Return `StepShape.reduction_factor`, without an expansion of a schedule with a symmetry."""
    reducing = [phase.transfers for phase in schedule.phases if phase.op is PhaseOp.REDUCE]
    return sum((part for sent in reducing for part in greatest_receipts(schedule, sent)), Fraction(0))


def _links_crossed(sent: Transfers, schedule: StepSchedule) -> list[int]:
    """Return, for each step, the greatest number of links that a transfer crosses, and at least 1."""
    greatest = np.ones(sent.steps, dtype=np.int64)
    if sent.routes is not None:
        routed = np.flatnonzero(sent.routes != NO_ROUTE)
        lengths = np.diff(schedule.routes.starts) - 1
        np.maximum.at(greatest, sent.step_of[routed], lengths[sent.routes[routed]])
    return [int(count) for count in greatest]


def _step_times(transfers: Transfers, schedule: StepSchedule) -> list[Fraction]:
    """Return, for each step, the greatest load / bandwidth of a link; loads are fractions of M."""
    if not len(transfers):
        return [Fraction(0)] * transfers.steps
    loads = step_loads(schedule, transfers)
    bandwidths = [link.bandwidth for link in schedule.topology.links]
    return [greatest / loads.whole for greatest in _greatest_times(loads.carried, bandwidths)]


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
