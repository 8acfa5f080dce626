"""Finding the first offender in arrays; in large ones block by block, so that no mark of all of them is made."""

import numpy as np

from forestcoll.schedule.rows import Rows
from forestcoll.verification.network import BoolArray


def first_true(marks: BoolArray) -> int | None:
    """Return the first place that is marked, or None."""
    place = int(marks.argmax()) if len(marks) else 0
    return place if len(marks) and marks[place] else None


def place_in_rows(rows: Rows, entry: int) -> tuple[int, int]:
    """Return the row that holds entry number `entry`, and its position there."""
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
