"""Rows of integers as JSON text, `[0,16,1],[0,17,8]`, written and read in blocks.

A schedule for thousands of nodes is mostly such text: a few hundred megabytes. The `json` module would make a Python
object of each integer, both in writing and in reading, which takes most of the time and several times the memory. This
module converts arrays to text, and text to arrays, in blocks that fit in a cache.

The reader accepts only rows of small integers as they are usually written. It returns None for any other text, whether
that is wrong or only unusual (an empty row, ten digits). The caller then uses the `json` module, which reports each
error with its place.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray, Rows, row_starts

BLOCK_ENTRIES = 2**16
"""The integers that are converted to text at a time, unless a single row has more."""

BLOCK_BYTES = 2**18
"""The bytes of text that are converted to rows at a time, unless a single row has more."""

MAX_DIGITS = 9
"""The most digits of an integer that is read here; every such integer fits in 32 bits."""

_COMMA, _OPEN, _CLOSE, _ZERO = b",[]0"
_WHITE = b" \t\r\n"
_SPLIT_NUMBER = re.compile(rb"[0-9][ \t\r\n]+[0-9]")


def row_texts(rows: Rows) -> Iterator[str]:
    """Yield the text of `rows` in pieces of some thousands of rows, as `json.dumps` without spaces writes them.

    Join the pieces with commas.
    """
    for _, block in rows.blocks(BLOCK_ENTRIES):
        if (block.starts[1:] == block.starts[:-1]).any() or block.entries.min() < 0:
            yield json.dumps(list(block.lists()), separators=(",", ":"))[1:-1]
        else:
            yield _text(block)


def _text(rows: Rows) -> str:
    """Return the text of `rows`, each of which has at least one entry.

    Each entry gets a line of cells: its digits, right-aligned, then `,` or, after the last entry of a row, `],[`. Blank
    cells are removed at the end.
    """
    width = len(str(rows.entries.max()))
    cells = np.zeros((len(rows.entries), width + 3), dtype=np.uint8)
    rest = rows.entries
    for column in range(width)[::-1]:
        higher = rest // 10
        cells[:, column] = (rest - higher * 10 + _ZERO) * ((rest > 0) | (column == width - 1))
        rest = higher
    cells[:, width] = _COMMA
    cells[rows.starts[1:] - 1, width:] = (_CLOSE, _COMMA, _OPEN)
    text = cells.tobytes().translate(None, b"\0").decode()
    return "[" + text[:-2]


@dataclass(frozen=True, slots=True)
class Scanned:
    """Rows that were read.

    Attributes:
        entries: the entries of all rows, row by row.
        lengths: the number of entries of each row, at least one.
    """

    entries: npt.NDArray[np.int32]
    lengths: IntArray


def scan_rows(text: bytes | bytearray, begin: int, end: int) -> Rows | None:
    """Return the rows in `text[begin:end]`, or None if that is not `[…],[…]` with any white space."""
    entries = np.empty(text.count(b",", begin, end) + 1, dtype=np.int32)
    lengths = np.empty(text.count(b"]", begin, end), dtype=np.int32)
    entry = row = 0
    for piece in _pieces(text, begin, end):
        scanned = scan(piece)
        if scanned is None or entry + len(scanned.entries) > len(entries):
            return None
        entries[entry : entry + len(scanned.entries)] = scanned.entries
        lengths[row : row + len(scanned.lengths)] = scanned.lengths
        entry, row = entry + len(scanned.entries), row + len(scanned.lengths)
    return Rows(row_starts(lengths), entries) if (entry, row) == (len(entries), len(lengths)) else None


def _pieces(text: bytes | bytearray, begin: int, end: int) -> Iterator[bytes]:
    """Yield `text[begin:end]` in pieces of whole rows, with a comma before the first row too."""
    before = b","
    while begin < end:
        stop = text.rfind(b"]", begin, min(begin + BLOCK_BYTES, end))
        stop = (stop if stop >= 0 else text.find(b"]", begin, end)) + 1 or end
        yield before + text[begin:stop]
        begin, before = stop, b""


def joined(rows: Iterable[bytes | bytearray]) -> bytes:
    """Join the texts of single rows to one text that `scan` reads."""
    return b"," + b",".join(rows)


def scan(text: bytes | bytearray) -> Scanned | None:
    """Return the rows in `text`, or None if that is not `,[…],[…]` with any white space.

    The places where numbers begin and end determine the rows: two numbers are separated by `,` or by `],[`, which
    differ in length.
    """
    codes = np.frombuffer(_without_white(text), dtype=np.uint8)
    is_digit = codes - np.uint8(_ZERO) < 10
    edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    firsts, lasts = edges[0::2] + 1, edges[1::2]
    if not len(firsts) or len(firsts) != len(lasts) or firsts[0] != 2 or lasts[-1] != len(codes) - 2:
        return None
    is_row_end = np.append(firsts[1:] - lasts[:-1] == 4, True)
    if not (_are_separated(codes, firsts, lasts, is_row_end) and _are_plain(codes, firsts, lasts)):
        return None
    row_ends = np.flatnonzero(is_row_end)
    return Scanned(digit_values(codes, firsts, lasts), np.diff(row_ends, prepend=-1))


def _without_white(text: bytes | bytearray) -> bytes | bytearray:
    """Return `text` without white space, or no text if that would join two numbers."""
    packed = text.translate(None, _WHITE)
    return b"" if len(packed) < len(text) and _SPLIT_NUMBER.search(text) else packed


def _are_separated(
    codes: npt.NDArray[np.uint8], firsts: IntArray, lasts: IntArray, is_row_end: npt.NDArray[np.bool_]
) -> bool:
    """Return whether each number has `,` or `[` before it and `,` or `]` after it, and rows have `],[` between them."""
    gaps = firsts[1:] - lasts[:-1]
    behind = lasts[is_row_end][:-1] + 1
    return bool(
        (codes[0] == _COMMA and codes[1] == _OPEN)
        and ((gaps == 2) | (gaps == 4)).all()
        and (codes[lasts + 1] == np.where(is_row_end, np.uint8(_CLOSE), np.uint8(_COMMA))).all()
        and (codes[behind + 1] == _COMMA).all()
        and (codes[behind + 2] == _OPEN).all()
    )


def _are_plain(codes: npt.NDArray[np.uint8], firsts: IntArray, lasts: IntArray) -> bool:
    """Return whether each number is short enough and has no leading zero, which JSON does not allow."""
    return bool((lasts - firsts).max() < MAX_DIGITS and not ((codes[firsts] == _ZERO) & (lasts > firsts)).any())


def digit_values(codes: npt.NDArray[np.uint8], firsts: IntArray, lasts: IntArray) -> npt.NDArray[np.int32]:
    """Return the numbers whose digits are at `firsts[i]` to `lasts[i]`, at most `MAX_DIGITS` digits each."""
    digits = codes - np.uint8(_ZERO)
    lengths = lasts - firsts + 1
    values = digits[lasts].astype(np.int32)
    for place in range(1, int(lengths.max())):
        values += np.where(lengths > place, digits[lasts - place], np.uint8(0)) * np.int32(10**place)
    return values
