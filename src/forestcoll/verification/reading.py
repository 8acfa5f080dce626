"""Reading of schedules to draw conclusions from: a file is verified before its schedule is returned."""

from forestcoll.errors import InputError
from forestcoll.files import PathLike
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.files import read_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification.judges import verify
from forestcoll.verification.report import Report


def read_verified(path: PathLike, *, progress: Progress = SILENT) -> tuple[Schedule, Report]:
    """Read and verify the schedule in the file at `path`.

    Args:
        path: the file, with a schedule of any kind. Gzip is recognised; `-` is standard input.
        progress: receives the stages.

    Returns:
        The schedule and the report of its verification.

    Raises:
        InputError: the file cannot be read, breaks its format, or holds a schedule that breaks a rule.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from forestcoll import build_topology, generate, write_schedule
        >>> path = Path(tempfile.mkdtemp()) / "ring.json"
        >>> write_schedule(generate(build_topology("ring:nodes=4")), path)
        >>> schedule, report = read_verified(path)
        >>> report.optimal
        True
    """
    progress.begin("reading")
    schedule = read_schedule(path)
    progress.begin("verifying")
    report = verify(schedule)
    if report.fault is not None:
        raise InputError(f"{path}: {report.fault.message} [{report.fault.rule}]")
    return schedule, report
