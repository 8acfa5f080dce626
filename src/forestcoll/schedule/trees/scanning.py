"""The document of a schedule with its rows of integers as arrays, read without an object for each integer.

The texts of the lists under `"routes"` are cut out and scanned; what is left is small, and the `json` module reads it
with a number in their place that its hook turns into the arrays. Whatever is unusual, from a byte that is no JSON to a
second list under the same key, gives no document at all here: the caller then reads the whole text in the ordinary
way, so that nothing is accepted or refused for being read fast.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.exact import WrittenFloat
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.rows_text import BLOCK_BYTES, joined, scan, scan_rows

Row: TypeAlias = npt.NDArray[np.int32]

_LIST = re.compile(rb'"routes"[ \t\r\n]*:[ \t\r\n]*(?=\[)')
_TABLE = re.compile(rb"\[[ \t\r\n]*(?=\[)")
_STAND_IN = "-Infinity"
"""What stands where a list was cut out; a document that holds it already is not read here."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the list under a key `"routes"` stands in the text, its brackets included."""

    begin: int
    end: int


def scanned_document(text: bytes | bytearray) -> dict[str, object] | None:
    """Return the JSON object in `text`: its table of routes as `Rows`, the routes of each tree as an array of int32.

    None if the text is not plainly such a document.
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
        return next(remaining) if name == _STAND_IN else WrittenFloat(name)

    try:
        document = json.loads(rest, parse_float=WrittenFloat, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return document if _placed(document) == len(cuts) else None


def _cuts(text: bytes | bytearray) -> list[Cut] | None:
    """Return where lists stand under a key `"routes"`; None if the end of one is not found."""
    cuts: list[Cut] = []
    place = 0
    while (found := _LIST.search(text, place)) is not None:
        place = found.end()
        if text[found.start() - 1 : found.start()] == b"\\":  # inside a string
            continue
        end = _end(text, place)
        if not end:
            return None
        cuts.append(Cut(place, end))
        place = end
    return cuts


def _end(text: bytes | bytearray, begin: int) -> int:
    """Return where the list that begins at `begin` ends, 0 if it does not.

    No list of integers holds a quotation mark or a brace, so the last bracket before the next of these ends it.
    """
    quote = text.find(b'"', begin)
    bound = quote if quote >= 0 else len(text)
    brace = text.find(b"}", begin, bound)
    return text.rfind(b"]", begin, brace if brace >= 0 else bound) + 1


def _rest(text: bytes | bytearray, cuts: Sequence[Cut]) -> str | None:
    """Return `text` with a stand-in for each of `cuts`, or None if it is no text or the stand-in occurs anyway."""
    ends = [0, *(cut.end for cut in cuts)]
    begins = [*(cut.begin for cut in cuts), len(text)]
    pieces = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    mark = _STAND_IN.encode()
    if any(mark in piece for piece in pieces):
        return None
    try:
        return (b" " + mark + b" ").join(pieces).decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _scanned_lists(text: bytes | bytearray, cuts: Sequence[Cut]) -> list[Rows | Row] | None:
    """Return the lists that stand at `cuts`, or None if one of them is not of integers or of rows of integers."""
    lists: list[Rows | Row] = []
    for group in _groups(text, cuts):
        table = _TABLE.match(text, group[0].begin)
        scanned = _scanned_rows(text, group) if table is None else _scanned_table(text, table.end(), group[0].end)
        if scanned is None:
            return None
        lists += scanned
    return lists


def _groups(text: bytes | bytearray, cuts: Sequence[Cut]) -> Iterator[list[Cut]]:
    """Yield `cuts` in groups that are worth an array: a table alone, single rows until they are long enough."""
    group: list[Cut] = []
    size = 0
    for cut in cuts:
        is_table = _TABLE.match(text, cut.begin) is not None
        if group and (is_table or size > BLOCK_BYTES):
            yield group
            group, size = [], 0
        group.append(cut)
        size += BLOCK_BYTES + 1 if is_table else cut.end - cut.begin
    if group:
        yield group


def _scanned_rows(text: bytes | bytearray, cuts: Sequence[Cut]) -> Sequence[Row] | None:
    scanned = scan(joined(text[cut.begin : cut.end] for cut in cuts))
    if scanned is None or len(scanned.lengths) != len(cuts):
        return None
    return np.split(scanned.entries, np.cumsum(scanned.lengths)[:-1])


def _scanned_table(text: bytes | bytearray, begin: int, end: int) -> Sequence[Rows] | None:
    last = text.rfind(b"]", begin, end - 1) + 1
    rows = None if text[last : end - 1].strip() else scan_rows(text, begin, last)
    return None if rows is None else [rows]


def _placed(document: object) -> int:
    """Return how many arrays stand where the format has them: the table of routes, and the routes of trees."""
    if not isinstance(document, Mapping):
        return 0
    phases = [phase for phase in _listed(document.get("phases")) if isinstance(phase, Mapping)]
    trees = [tree for phase in phases for tree in _listed(phase.get("trees")) if isinstance(tree, Mapping)]
    in_trees = sum(isinstance(tree.get("routes"), np.ndarray) for tree in trees)
    return in_trees + isinstance(document.get("routes"), Rows)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
