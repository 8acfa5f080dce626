"""Reading of schedules to draw conclusions from: a file is verified before its schedule is returned."""

from collections.abc import Mapping

from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike
from forestcoll.base.progress import SILENT, Progress
from forestcoll.schedule.files import read_schedule, schedule_from_document
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification.report import Report
from forestcoll.verification.verifiers import verify


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
        >>> from forestcoll import generate, write_schedule
        >>> from forestcoll.topology import build_topology
        >>> write_schedule(generate(build_topology("ring:nodes=4")), "ring.json")
        >>> schedule, report = read_verified("ring.json")
        >>> report.optimal
        True
    """
    progress.begin("reading")
    schedule = read_schedule(path)
    progress.begin("verifying")
    return schedule, _report_on(schedule, str(path))


def verified_from_document(document: Mapping[str, object], *, where: str) -> Schedule:
    """Return the schedule that a JSON object describes, verified.

    Args:
        document: the object, as `files.parse_document` returns it.
        where: the text that begins every error message.

    Raises:
        InputError: the object breaks the format, or the schedule breaks a rule.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule import schedule_text
        >>> import json
        >>> document = json.loads("".join(schedule_text(generate("ring:nodes=4"))))
        >>> verified_from_document(document, where="the message of rank 0").collective.value
        'allgather'
    """
    schedule = schedule_from_document(document, where=where)
    _report_on(schedule, where)
    return schedule


def require_right(schedule: Schedule) -> None:
    """Check a schedule that a caller gives, before a conclusion is drawn from it.

    Raises:
        InputError: it breaks a rule.
    """
    _report_on(schedule, schedule.topology.name)


def _report_on(schedule: Schedule, where: str) -> Report:
    report = verify(schedule)
    if report.fault is not None:
        raise InputError(f"{where}: {report.fault.message} [{report.fault.rule}]")
    return report
