"""Measured times with the schedules that ran, from files and the names of networks and algorithms."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forestcoll.algorithms.baseline import baselines_named
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike, as_path, parse_document, read_bytes
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.measurement.fit.measurements import MeasuredTimes
from forestcoll.measurement.fit.tables import Record, read_records
from forestcoll.schedule.files import FORMATS
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification.reading import read_verified

OWN = "forestcoll"
"""The name of the algorithm that `generate` uses."""


@dataclass(frozen=True)
class _Source:
    """What names a schedule: a file or a network, and for a network the algorithm and the collective."""

    schedule: str
    algorithm: str
    collective: Collective | None


def read_times(
    files: Sequence[PathLike],
    schedules: Sequence[PathLike],
    *,
    algorithms: Sequence[str] = (OWN,),
    collective: Collective | str | None = None,
    progress: Progress = SILENT,
) -> list[MeasuredTimes]:
    r"""Return the measured times in files, with the schedules that ran.

    Args:
        files: tables of comma-separated values, or logs of nccl-tests or rccl-tests.
        schedules: for each file the schedule that ran: a schedule file, or a network for which `algorithms` makes the
            schedule. One schedule is used for all files. A column `schedule` in a table comes first.
        algorithms: for each file the algorithm, `forestcoll` or a name that `compare` lists; one is used for all files.
        collective: the collective, if neither a file nor a schedule says which it is; an allgather if None.
        progress: receives the stages.

    Returns:
        The times of each schedule, in the order of the files.

    Raises:
        InputError: a file cannot be read, a schedule is missing or of another collective, or an algorithm does not
            apply to a network.

    Example:
        >>> from pathlib import Path
        >>> from forestcoll.measurement import read_times
        >>> _ = Path("times.csv").write_text("size,algbw\n1M,3.17\n16M,37.6\n128M,152\n1G,187\n")
        >>> times = read_times(["times.csv"], ["dgx-a100:boxes=2"], algorithms=["nccl-ring"])
        >>> times[0].name, len(times[0].sizes)
        ('dgx-a100:boxes=2 nccl-ring allgather', 4)
    """
    wanted = None if collective is None else collective_named(collective)
    found: dict[_Source, list[Record]] = {}
    for number, file in enumerate(files):
        schedule, algorithm = _for_file(schedules, number, files, "schedule"), _for_file(algorithms, number, files, "")
        for record in read_records(as_path(file), wanted):
            source = _Source(
                record.schedule or schedule, record.algorithm or algorithm or OWN, record.collective or wanted
            )
            if not source.schedule:
                raise InputError(f"{record.where}: no schedule is given; give --schedule, or a column schedule")
            found.setdefault(source, []).append(record)
    return [_measured(source, records, progress) for source, records in found.items()]


def _for_file(values: Sequence[PathLike], number: int, files: Sequence[PathLike], what: str) -> str:
    """Return the value for a file: there is one for each file, or one for all, or none."""
    if len(values) not in (0, 1, len(files)):
        name = what or "algorithm"
        raise InputError(f"there are {len(values)} {name}s for {len(files)} files of times; give one, or one per file")
    return str(values[number if len(values) > 1 else 0]) if values else ""


def _measured(source: _Source, records: list[Record], progress: Progress) -> MeasuredTimes:
    """Return the times of one schedule."""
    progress.begin(f"preparing {source.schedule}")
    schedule, name = _schedule(source, records[0].where, progress)
    for record in records:
        if record.collective not in (None, schedule.collective):
            raise InputError(
                f"{record.where}: the time is of {record.collective}, and the schedule of {schedule.collective}; give "
                "the schedule that ran"
            )
        if record.ranks not in (None, len(schedule.members)):
            raise InputError(
                f"{record.where}: the test ran on {record.ranks} ranks; the schedule has {len(schedule.members)}"
            )
    return MeasuredTimes(
        name, schedule, tuple(record.size for record in records), tuple(record.seconds for record in records)
    )


def _schedule(source: _Source, where: str, progress: Progress) -> tuple[Schedule, str]:
    """Return the schedule that ran, and its name."""
    if _is_schedule(source.schedule):
        schedule, _ = read_verified(source.schedule, progress=progress)
        return schedule, source.schedule
    collective = source.collective or Collective.ALLGATHER
    if collective.has_root:
        raise InputError(f"{where}: {collective.with_article} has a root; give its schedule file instead of a network")
    problem = problem_of(source.schedule, collective, progress)
    name = f"{source.schedule} {source.algorithm} {collective.value}"
    if source.algorithm == OWN:
        return Trees().schedule(problem), name
    (baseline,) = baselines_named([source.algorithm])
    try:
        return baseline.result(problem).schedule, name
    except DoesNotApplyError as error:
        raise InputError(f"{where}: {source.algorithm} on {source.schedule}: {error}") from None


def _is_schedule(text: str) -> bool:
    """Return whether `text` names a file with a schedule, not a network."""
    path = Path(text)
    try:
        if not path.is_file():
            return False
    except OSError:  # too long for the name of a file
        return False
    data = read_bytes(path)
    if not bytes(data[:64]).lstrip().startswith(b"{"):
        return False
    return parse_document(data, path).get("format") in FORMATS
