"""Verify every schedule of this package before it is returned. The verifier shares no code with the generator."""

from forestcoll.errors import InternalError
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.verification.series.judge import verify_series


def checked(schedule: SeriesSchedule) -> SeriesSchedule:
    """Return `schedule` if the verifier finds no fault.

    Raises:
        InternalError: the verifier finds a fault.
    """
    fault = verify_series(schedule).fault
    if fault is not None:
        raise InternalError(f"the periodic schedule violates a rule: {fault.message}")
    return schedule
