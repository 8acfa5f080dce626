"""The part of the time in which a schedule keeps each link busy."""

import numpy as np

from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.simulate import parts_of


def busy_parts(schedule: Schedule) -> list[float]:
    """Return, for each link, the part of the time of the collective in which it is busy, for large data.

    This is the part of M that crosses the link, divided by its bandwidth, times the algbw of the schedule. If a
    schedule claims no algbw, the busiest link counts as always busy.

    Raises:
        InputError: the loads of schedules of this kind are not known.
    """
    bandwidths = np.array([float(link.bandwidth) for link in schedule.topology.links])
    times = parts_of(schedule) / bandwidths
    rate = 1 / max(float(times.max(initial=0.0)), 1e-300) if schedule.algbw is None else float(schedule.algbw)
    found: list[float] = np.round(times * rate, 9).tolist()
    return found
