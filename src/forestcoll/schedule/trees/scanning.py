"""The document of a schedule with its rows of integers as arrays, read without making an object for each integer.

The texts of the lists under `"routes"` are cut out and converted to arrays. The rest is small: the `json` module reads
it, with a placeholder for each list, which a hook replaces by the array. For anything unusual, from invalid JSON to a
second list under the same key, this module returns None, and the caller uses the ordinary reader. So the fast reader
never changes which files are accepted.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import WrittenFloat
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.rows_text import scan_rows

Row: TypeAlias = npt.NDArray[np.int32]

_LIST = re.compile(rb'"routes"[ \t\r\n]*:[ \t\r\n]*(?=\[)')
_TABLE = re.compile(rb"\[[ \t\r\n]*(?=\[)")
_PLACEHOLDER = "-Infinity"
"""The text that replaces a list; a document that already contains this text is not read here."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The place of the list under a key `"routes"` in the text, with its brackets."""

    begin: int
    end: int


def scanned_document(text: bytes | bytearray) -> dict[str, object] | None:
    """Return the JSON object in `text`, with its table of routes as `Rows` and the routes of each tree as int32 array.

    Return None if the text is unusual in any way.
    """
    cuts = _cuts(text)
    if not cuts:
        return None
    rest = _rest(text, cuts)
    lists = None if rest is None else _scanned_lists(text, cuts)
    if rest is None or lists is None:
        return None
    remaining = iter(lists)

    def constant(name: str) -> object:
        return next(remaining) if name == _PLACEHOLDER else WrittenFloat(name)

    try:
        document = json.loads(rest, parse_float=WrittenFloat, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return document if _placed(document) == len(cuts) else None


def _cuts(text: bytes | bytearray) -> list[_Cut] | None:
    """Return the places of the lists under keys `"routes"`, or None if the end of a list is not found."""
    cuts: list[_Cut] = []
    place = 0
    while (found := _LIST.search(text, place)) is not None:
        place = found.end()
        if text[found.start() - 1 : found.start()] == b"\\":  # inside a string
            continue
        end = _end(text, place)
        if not end:
            return None
        cuts.append(_Cut(place, end))
        place = end
    return cuts


def _end(text: bytes | bytearray, begin: int) -> int:
    """Return where the list that begins at `begin` ends, or 0 if it has no end.

    A list of integers contains no quotation mark and no brace. So it ends with the last bracket before the next one.
    """
    quote = text.find(b'"', begin)
    bound = quote if quote >= 0 else len(text)
    brace = text.find(b"}", begin, bound)
    return text.rfind(b"]", begin, brace if brace >= 0 else bound) + 1


def _rest(text: bytes | bytearray, cuts: Sequence[_Cut]) -> str | None:
    """Return `text` with a placeholder for each of `cuts`, or None if it is not UTF-8 or contains the placeholder."""
    ends = [0, *(cut.end for cut in cuts)]
    begins = [*(cut.begin for cut in cuts), len(text)]
    pieces = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    mark = _PLACEHOLDER.encode()
    if any(mark in piece for piece in pieces):
        return None
    try:
        return (b" " + mark + b" ").join(pieces).decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _scanned_lists(text: bytes | bytearray, cuts: Sequence[_Cut]) -> list[Rows | Row] | None:
    """Return the lists at `cuts`, or None if one of them does not contain only integers or only rows of integers."""
    lists: list[Rows | Row] = []
    for cut in cuts:
        table = _TABLE.match(text, cut.begin)
        scanned = scan_rows(text, cut.begin, cut.end) if table is None else _scanned_table(text, table.end(), cut.end)
        if scanned is None or (table is None and len(scanned) != 1):
            return None
        lists.append(scanned.entries if table is None else scanned)
    return lists


def _scanned_table(text: bytes | bytearray, begin: int, end: int) -> Rows | None:
    last = text.rfind(b"]", begin, end - 1) + 1
    return None if text[last : end - 1].strip() else scan_rows(text, begin, last)


def _placed(document: object) -> int:
    """Return the number of arrays at the places of the format: the table of routes, and the routes of trees."""
    if not isinstance(document, Mapping):
        return 0
    phases = [phase for phase in _listed(document.get("phases")) if isinstance(phase, Mapping)]
    trees = [tree for phase in phases for tree in _listed(phase.get("trees")) if isinstance(tree, Mapping)]
    in_trees = sum(isinstance(tree.get("routes"), np.ndarray) for tree in trees)
    return in_trees + isinstance(document.get("routes"), Rows)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
