"""Finding the first offender in arrays."""

import numpy as np

from forestcoll.schedule import Rows
from forestcoll.verification.case import BoolArray


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
    entry = first_true((rows.entries < 0) | (rows.entries >= bound))
    return None if entry is None else place_in_rows(rows, entry)
