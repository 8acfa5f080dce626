"""What is made here is judged by the verifier, which shares no code with it, before anyone sees it."""

from forestcoll.errors import InternalError
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.verification import verify


def checked(schedule: SeriesSchedule) -> SeriesSchedule:
    """Return `schedule` if the verifier finds nothing wrong with it.

    Raises:
        InternalError: it does.
    """
    fault = verify(schedule).fault
    if fault is not None:
        raise InternalError(f"the periodic schedule breaks a rule: {fault.message}")
    return schedule
