"""Reading and writing schedules of every kind; the key `format` of a file says which kind it holds.

The table `FORMATS` is the only place that lists all formats.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forestcoll.base.errors import InputError, InternalError, require_kind, shown
from forestcoll.base.file_kinds import SCHEDULE, check_kind
from forestcoll.base.files import (
    MAX_BYTES,
    PathLike,
    as_path,
    input_name,
    parse_document,
    peek_bytes,
    read_bytes,
    write_text,
)
from forestcoll.schedule.bundle import document as bundle
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows import document as flows
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series import document as series
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps import document as steps
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees import document as trees
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True)
class ScheduleFormat:
    """The functions that write and read schedules of one kind.

    Attributes:
        schedules: the class of these schedules.
        text_of: yields the pieces of the JSON text; bytes are UTF-8.
        from_document: returns the schedule that a JSON object describes. Its second argument begins error messages.
        scanned: a faster reader. It returns the schedule in the content of a file, or None if the content differs from
            what this version writes. The attribute is None if the kind has no faster reader.
    """

    schedules: type[Schedule]
    text_of: Callable[[Any], Iterator[str | bytes]]
    from_document: Callable[[Mapping[str, object], str], Schedule]
    scanned: Callable[[bytes | bytearray, str], Schedule | None] | None = None


FORMATS: dict[str, ScheduleFormat] = {
    trees.FORMAT: ScheduleFormat(TreeSchedule, trees.text_of, trees.from_document, trees.scanned),
    steps.FORMAT: ScheduleFormat(StepSchedule, steps.text_of, steps.from_document, steps.scanned),
    series.FORMAT: ScheduleFormat(SeriesSchedule, series.text_of, series.from_document),
    flows.FORMAT: ScheduleFormat(FlowSchedule, flows.text_of, flows.from_document),
    bundle.FORMAT: ScheduleFormat(BundleSchedule, bundle.text_of, bundle.from_document),
}
"""The format of each kind, by its name in files."""

_FORMAT = re.compile(rb'"format"\s*:\s*"(?:' + b"|".join(re.escape(name).encode() for name in FORMATS) + rb')"')


def read_schedule(path: PathLike) -> Schedule:
    """Return the schedule in the file at `path`, of any kind: well formed, but not verified.

    Use `read_verified` to draw conclusions from a file.

    Args:
        path: the file. Gzip is recognised; `-` is standard input.

    Returns:
        The schedule; its class says which kind it is.

    Raises:
        InputError: the file cannot be read or breaks its format; the message names the file, the place and the value.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> write_schedule(generate(build_topology("ring:nodes=4")), "ring.json.gz")
        >>> read_schedule("ring.json.gz")
        <TreeSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 8 trees>
    """
    path = as_path(path)
    text, where = read_bytes(path), input_name(path)
    for each in FORMATS.values():
        schedule = None if each.scanned is None else each.scanned(text, where)
        if schedule is not None:
            return schedule
    document = parse_document(text, path)
    del text  # it takes as much memory as the schedule
    return schedule_from_document(document, where=where)


def holds_schedule(path: PathLike) -> bool:
    """Return whether a file has the format of a schedule; `read_schedule` reads it, also from standard input.

    Raises:
        InputError: the file cannot be read.
    """
    return _FORMAT.search(peek_bytes(as_path(path))) is not None


def schedule_from_document(document: Mapping[str, object], *, where: str) -> Schedule:
    """Return the schedule that a JSON object describes: well formed, but not verified.

    Args:
        document: the object, as `json.loads` returns it.
        where: the text that begins every error message, such as the name of the file.

    Returns:
        The schedule; its class says which kind it is.

    Raises:
        InputError: the document breaks its format; the message names the place and the value.

    Example:
        >>> import json
        >>> from forestcoll import generate
        >>> document = json.loads("".join(schedule_text(generate("ring:nodes=4"))))
        >>> schedule_from_document(document, where="ring.json")
        <TreeSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 8 trees>
    """
    check_kind(document, SCHEDULE, where)
    *others, last = map(repr, FORMATS)
    known = f"{', '.join(others)} or {last}"
    if "format" not in document:
        raise InputError(f'{where}: has no "format"; expected {known}, or "gpus" in a plan of MSCCL++')
    name = document["format"]
    if not isinstance(name, str) or name not in FORMATS:
        raise InputError(f"{where}: format is {shown(name)}; expected {known}")
    return FORMATS[name].from_document(document, where)


def schedule_text(schedule: Schedule) -> Iterator[str]:
    """Yield the pieces of the JSON text of `schedule`; equal schedules give equal texts.

    Args:
        schedule: a schedule of any kind.

    Returns:
        The pieces; their concatenation is the content of a schedule file.

    Raises:
        InternalError: schedules of this kind have no format.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> "".join(schedule_text(generate(build_topology("ring:nodes=4"))))[:34]
        '{"format": "forestcoll.schedule/1"'
    """
    return (piece.decode() if isinstance(piece, bytes) else piece for piece in _pieces_of(schedule))


def _pieces_of(schedule: Schedule) -> Iterator[str | bytes]:
    """Return the pieces of the JSON text of `schedule`; large pieces may be bytes, which are not copied."""
    for each in FORMATS.values():
        if each.schedules is type(schedule):
            return each.text_of(schedule)
    raise InternalError(f"schedules of kind {schedule.kind!r} have no format")


def _readable_pieces(schedule: Schedule) -> Iterator[str | bytes]:
    """Yield the pieces of the text. Raises `InputError` when they are longer than what is read again."""
    size = 0
    for piece in _pieces_of(schedule):
        size += len(piece)
        if size > MAX_BYTES:
            raise InputError(
                f"{schedule.topology.name}: the file would be larger than {MAX_BYTES >> 20} MiB, and could not be read "
                "again; use base trees (--compact), fewer chunks or fewer ranks"
            )
        yield piece


def write_schedule(schedule: Schedule, path: PathLike) -> None:
    """Write `schedule` to `path`. If writing fails, no partial file remains.

    Args:
        schedule: a schedule of any kind.
        path: the file, compressed with gzip if its name ends in `.gz`; `-` is standard output.

    Raises:
        InputError: the file cannot be written, or is larger than what is read again (2 GiB).

    Example:
        >>> from pathlib import Path
        >>> from forestcoll import generate
        >>> write_schedule(generate("ring:nodes=4"), "ring.json")
        >>> Path("ring.json").read_text()[:34]
        '{"format": "forestcoll.schedule/1"'
    """
    require_kind(schedule, Schedule, "schedule", "a schedule")
    path = as_path(path)
    write_text(path, _readable_pieces(schedule))
