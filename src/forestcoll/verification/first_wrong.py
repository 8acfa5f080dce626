"""Finding the first wrong entry in arrays. Large arrays are searched block by block to save memory."""

import numpy as np

from forestcoll.schedule.rows import Rows
from forestcoll.verification.network import BoolArray


def first_true(marks: BoolArray) -> int | None:
    """Return the first place that is marked, or None."""
    if not len(marks):
        return None
    place = int(marks.argmax())
    return place if marks[place] else None


def place_in_rows(rows: Rows, entry: int) -> tuple[int, int]:
    """Return the row of entry number `entry`, and the position of the entry in that row."""
    row = int(np.searchsorted(rows.starts, entry, side="right")) - 1
    return row, entry - int(rows.starts[row])


def first_outside(rows: Rows, bound: int) -> tuple[int, int] | None:
    """Return the row and position of the first entry that is not from 0 to `bound` - 1, or None."""
    for first, block in rows.blocks():
        entry = first_true((block.entries < 0) | (block.entries >= bound))
        if entry is not None:
            row, position = place_in_rows(block, entry)
            return first + row, position
    return None
