"""A schedule file of any kind, of trees, of steps or periodic: the format that it names decides."""

from pathlib import Path

from forestcoll.errors import InputError
from forestcoll.files import parse_document, read_bytes
from forestcoll.schedule.series.document import SERIES_FORMAT, series_from_document
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.document import STEPS_FORMAT, scanned_step_schedule, steps_from_document
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.document import FORMAT, schedule_from_document
from forestcoll.schedule.trees.scanning import scanned_document
from forestcoll.schedule.trees.value import TreeSchedule


def read_any_schedule(path: Path) -> TreeSchedule | StepSchedule | SeriesSchedule:
    """Return the schedule in the file at `path`, well formed but not verified.

    Raises:
        InputError: the file cannot be read or breaks its format; the message names the file, the place and the value.
    """
    text = read_bytes(path)
    steps = scanned_step_schedule(text, where=str(path))
    if steps is not None:
        return steps
    document = scanned_document(text)
    if document is None:
        document = parse_document(text, path)
    del text  # as large as all that is made of it
    if "format" not in document:
        raise InputError(f'{path}: has no "format"; expected {FORMAT!r}, {STEPS_FORMAT!r} or {SERIES_FORMAT!r}')
    if document["format"] == STEPS_FORMAT:
        return steps_from_document(document, where=str(path))
    if document["format"] == SERIES_FORMAT:
        return series_from_document(document, where=str(path))
    return schedule_from_document(document, where=str(path))
