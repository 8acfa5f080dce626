"""Rows of integers as JSON text, `[0,16,1],[0,17,8]`, written and read by compiled code (`native/schedule`).

A schedule for thousands of nodes is mostly such text: a few hundred megabytes. The `json` module would make a Python
object of each integer, both in writing and in reading, which takes most of the time and several times the memory.

The reader accepts only rows of small integers as they are usually written. It returns None for any other text, whether
that is wrong or only unusual (an empty row, ten digits). The caller then uses the `json` module, which reports each
error with its place.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray, Rows, row_blocks, row_starts

if TYPE_CHECKING:
    from forestcoll.schedule import _schedules

BLOCK_ENTRIES = 2**14
"""The integers that are converted to text at a time, unless a single row has more; the text fits into a cache."""

MAX_DIGITS = 9
"""The most digits of an integer that is read here; every such integer fits in 32 bits."""

PART_BYTES = 2**24
"""Texts are read in parallel parts of so many bytes or more: another thread costs less time than it saves then."""

_ZERO = ord("0")


def row_texts(rows: Rows) -> Iterator[bytes]:
    """Yield the text of `rows` in pieces, as `json.dumps` without spaces writes them; join the pieces."""
    compiled = rows.compiled()
    for block in row_blocks(rows.starts, BLOCK_ENTRIES):
        if block.start:
            yield b","
        yield _text(rows, compiled, block)


def single_row_texts(rows: Rows) -> Iterator[bytes]:
    """Yield the text of each row, as `json.dumps` without spaces writes it."""
    compiled = rows.compiled()
    for row in range(len(rows)):
        yield _text(rows, compiled, range(row, row + 1))


def _text(rows: Rows, compiled: "_schedules.Rows | None", block: range) -> bytes:
    """Return the texts of the rows in `block` with commas between them."""
    from forestcoll.schedule._schedules import rows_text

    if compiled is None:
        return json.dumps([rows[row] for row in block], separators=(",", ":"))[1:-1].encode()
    return rows_text(compiled, block.start, block.stop)


def scan_rows(text: bytes | bytearray, begin: int, end: int, part_bytes: int = PART_BYTES) -> Rows | None:
    """Return the rows in `text[begin:end]`, or None if that is not `[…],[…]` with any white space.

    Processors read parts of `part_bytes` or more at the same time.
    """
    from forestcoll.schedule._schedules import scan_rows as scan

    found = scan(np.frombuffer(text, dtype=np.uint8, count=end - begin, offset=begin), part_bytes)
    return None if found is None else Rows(row_starts(found[0]), found[1])


def digit_values(codes: npt.NDArray[np.uint8], firsts: IntArray, lasts: IntArray) -> npt.NDArray[np.int32]:
    """Return the numbers whose digits are at `firsts[i]` to `lasts[i]`, at most `MAX_DIGITS` digits each."""
    digits = codes - np.uint8(_ZERO)
    lengths = lasts - firsts + 1
    values = digits[lasts].astype(np.int32)
    for place in range(1, int(lengths.max())):
        values += np.where(lengths > place, digits[lasts - place], np.uint8(0)) * np.int32(10**place)
    return values
