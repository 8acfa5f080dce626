"""Schedules that commands go on from: read, and judged before anything is made of them."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.schedule.steps.value import StepSchedule
    from forestcoll.schedule.trees.value import TreeSchedule


def read_right_schedule(file: Path, watch: "Watch") -> "TreeSchedule | StepSchedule":
    """Return the schedule of trees or of steps in `file` if its data arrives.

    Raises:
        InputError: it cannot be read, breaks a rule of the verifier, or is periodic.
    """
    from forestcoll.errors import InputError
    from forestcoll.schedule.files import read_any_schedule
    from forestcoll.schedule.series.value import SeriesSchedule
    from forestcoll.schedule.steps.value import StepSchedule
    from forestcoll.verification import verify
    from forestcoll.verification.steps.judge import verify_steps

    watch.begin("reading")
    schedule = read_any_schedule(file)
    if isinstance(schedule, SeriesSchedule):
        raise InputError(f"{file}: is a periodic schedule for one-port platforms; expected one of trees or of steps")
    watch.begin("verifying")
    report = verify_steps(schedule) if isinstance(schedule, StepSchedule) else verify(schedule)
    if report.fault is not None:
        raise InputError(f"{file}: {report.fault.message} [{report.fault.rule}]")
    return schedule
