"""Reading a schedule of whatever kind a file holds."""

from pathlib import Path

from forestcoll.errors import InputError, shown
from forestcoll.files import parse_document, read_bytes
from forestcoll.schedule.document import FORMAT, schedule_from_document
from forestcoll.schedule.model import Schedule
from forestcoll.schedule.periodic import PeriodicSchedule
from forestcoll.schedule.periodic_document import SERIES_FORMAT, series_from_document
from forestcoll.schedule.scanning import scanned_document


def read_any(path: Path) -> Schedule | PeriodicSchedule:
    """Return the schedule of trees or the periodic schedule in the file at `path`, well formed but not verified.

    Raises:
        InputError: the file cannot be read, or breaks the format that it names, or names none of these.
    """
    text = read_bytes(path)
    document = scanned_document(text)
    if document is None:
        document = parse_document(text, path)
    del text  # as large as all that is made of it
    if document.get("format") == SERIES_FORMAT:
        return series_from_document(document, where=str(path))
    if "format" in document and document["format"] != FORMAT:
        raise InputError(f"{path}: format is {shown(document['format'])}; expected {FORMAT!r} or {SERIES_FORMAT!r}")
    return schedule_from_document(document, where=str(path))
