"""The part of the time in which a schedule keeps each link busy."""

from fractions import Fraction

import numpy as np

from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.steps.shape import StepShape


def busy_parts(schedule: Schedule) -> list[float]:
    """Return, for each link, the part of the time of the collective in which it is busy, for large data.

    This is the part of M that crosses the link, divided by its bandwidth, times the algbw of the schedule.

    Raises:
        InputError: the loads of schedules of this kind are not known.
    """
    bandwidths = np.array([float(link.bandwidth) for link in schedule.topology.links])
    times = link_loads(schedule).parts / bandwidths
    found: list[float] = np.round(times * float(algbw_of(schedule) or 0), 9).tolist()
    return found


def algbw_of(schedule: Schedule) -> Fraction | None:
    """Return the algbw that a schedule claims or, if it claims none, the algbw of its steps; None if it sends nothing.

    Raises:
        InputError: the algbw of schedules of this kind is not known.
    """
    if schedule.algbw is not None:
        return schedule.algbw
    shape = shape_of(schedule)
    return shape.algbw if isinstance(shape, StepShape) else None
