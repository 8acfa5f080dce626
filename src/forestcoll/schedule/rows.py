"""Rows of integers of different lengths in flat arrays. A schedule of 1,000 nodes has a million tree edges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from forestcoll.schedule import _schedules

IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]

BLOCK_ENTRIES = 2**18
"""The entries that are processed at a time, where processing all at once would copy a large array several times."""


def row_starts(lengths: IntArray) -> IntArray:
    """Return where rows of these `lengths` begin, and the total length; as int32 if the total fits."""
    total = int(lengths.sum(dtype=np.int64))
    starts: IntArray = np.zeros(len(lengths) + 1, dtype=_type_of_starts(total))
    np.cumsum(lengths, out=starts[1:], dtype=starts.dtype)
    return starts


def _type_of_starts(total: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if total <= np.iinfo(np.int32).max else np.int64


def type_of_numbers(count: int) -> type[np.int16] | type[np.int32]:
    """Return the shortest type of entries that are numbers below `count`, such as those of nodes.

    The routes of thousands of trees take most of the memory of a large schedule.
    """
    return np.int16 if count <= 2**15 else np.int32


def row_blocks(starts: IntArray, entries: int) -> Iterator[range]:
    """Yield ranges of the rows that begin at `starts`: each has at most `entries` entries, or is a single row."""
    first, count = 0, len(starts) - 1
    while first < count:
        bound = starts.dtype.type(min(int(starts[first]) + entries, int(starts[-1])))  # of the same type: no copy
        stop = max(first + 1, int(np.searchsorted(starts, bound, side="right")) - 1)
        yield range(first, stop)
        first = stop


def _fit_in_32_bits(entries: IntArray) -> bool:
    limits = np.iinfo(np.int32)
    return not len(entries) or bool(limits.min <= entries.min() and entries.max() <= limits.max)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Rows:
    """Rows of integers of different lengths, in two flat read-only arrays.

    Attributes:
        starts: where each row begins in `entries`, and the length of `entries`: `len(self) + 1` numbers from 0 in
            ascending order.
        entries: the entries of all rows, row by row.

    Example:
        >>> rows = Rows.of([[0, 16, 1], [0, 17]])
        >>> len(rows), rows[1]
        (2, (0, 17))
    """

    starts: IntArray
    entries: IntArray

    def __post_init__(self) -> None:
        self.starts.flags.writeable = False
        self.entries.flags.writeable = False

    @staticmethod
    def of(rows: Sequence[Sequence[int]]) -> "Rows":
        """Return `rows` as flat arrays. Raises `OverflowError` if an entry does not fit in 32 bits."""
        starts = row_starts(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
        entries = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(starts[-1]))
        return Rows(starts, entries)

    def compiled(self) -> "_schedules.Rows | None":
        """Return these rows for compiled code, or None if an entry does not fit in 32 bits.

        Raises:
            ValueError: the starts do not ascend from 0 to the number of entries.
        """
        from forestcoll.schedule._schedules import Rows as CompiledRows

        entries, starts = self.entries, self.starts
        if entries.dtype not in (np.int16, np.int32):
            if not _fit_in_32_bits(entries):
                return None
            entries = entries.astype(np.int32)
        if starts.dtype not in (np.int32, np.int64):
            starts = starts.astype(np.int64)
        return CompiledRows(np.ascontiguousarray(starts), np.ascontiguousarray(entries))

    def compiled_indices(self) -> "_schedules.Rows":
        """Return these rows of numbers of nodes or routes for compiled code, which looks each of them up.

        Raises:
            IndexError: a number does not fit in 32 bits.
        """
        compiled = self.compiled()
        if compiled is None:
            raise IndexError("a number of a node or a route does not fit in 32 bits")
        return compiled

    def images(self, maps: IntArray) -> "Rows":
        """Return all rows once for each row of `maps`, with the image `map[entry]` of each entry.

        Args:
            maps: 16-bit or 32-bit integers. The images have the same type.

        Raises:
            IndexError: an entry has no image.
        """
        from forestcoll.schedule._schedules import write_images

        total = len(maps) * len(self.entries)
        starts = np.empty(len(maps) * len(self) + 1, dtype=_type_of_starts(total))
        firsts = np.arange(len(maps), dtype=starts.dtype)[:, None] * len(self.entries)
        np.add(firsts, self.starts[:-1], out=starts[:-1].reshape(len(maps), len(self)), casting="same_kind")
        starts[-1] = total
        if np.array_equal(self.entries, np.arange(maps.shape[1])):
            return Rows(starts, maps.reshape(-1))
        entries = np.empty(total, dtype=maps.dtype)
        write_images(self.compiled_indices(), np.ascontiguousarray(maps), entries)
        return Rows(starts, entries)

    def take(self, rows: IntArray) -> "Rows":
        """Return the rows with these numbers, in this order."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        lengths = (self.starts[1:] - self.starts[:-1])[rows]
        starts = row_starts(lengths)
        entries = np.empty(starts[-1], dtype=self.entries.dtype)
        for block in row_blocks(starts, BLOCK_ENTRIES):
            chosen, begins = rows[block.start : block.stop], starts[block.start : block.stop + 1]
            places = np.repeat(self.starts[:-1][chosen] - begins[:-1], lengths[block.start : block.stop])
            entries[begins[0] : begins[-1]] = self.entries[places + np.arange(begins[0], begins[-1])]
        return Rows(starts, entries)

    def backwards(self) -> "Rows":
        """Return the rows in the same order, each from its last entry to its first."""
        lengths = self.starts[1:] - self.starts[:-1]
        mirrors = np.repeat(self.starts[:-1] + self.starts[1:] - 1, lengths)
        return Rows(self.starts, self.entries[mirrors - np.arange(len(self.entries))])

    def followed_by(self, other: "Rows") -> "Rows":
        """Return these rows, and after them those of `other`."""
        lengths = np.concatenate([np.diff(self.starts), np.diff(other.starts)])
        return Rows(row_starts(lengths), np.concatenate([self.entries, other.entries]))

    def blocks(self, entries: int | None = None) -> Iterator[tuple[int, "Rows"]]:
        """Yield all rows in blocks: the number of the first row of the block, and the block with starts from 0.

        A block has at most `entries` entries (default `BLOCK_ENTRIES`), or is a single row.
        """
        for block in row_blocks(self.starts, entries or BLOCK_ENTRIES):
            starts = self.starts[block.start : block.stop + 1]
            yield block.start, Rows(starts - starts[0], self.entries[starts[0] : starts[-1]])

    @property
    def longest(self) -> int:
        """The number of entries of the longest row; 0 if there are no rows."""
        blocks = row_blocks(self.starts, BLOCK_ENTRIES)
        return max((int(np.diff(self.starts[block.start : block.stop + 1]).max()) for block in blocks), default=0)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"<Rows: {len(self)} rows, {len(self.entries)} entries>"

    def __getitem__(self, row: int) -> tuple[int, ...]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return tuple(self.entries[self.starts[row] : self.starts[row + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return map(tuple, self.lists())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.entries, other.entries)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash

    def lists(self) -> Iterator[list[int]]:
        """Yield each row as a list of Python integers."""
        for _, block in self.blocks():
            entries = block.entries.tolist()
            yield from (entries[begin:end] for begin, end in pairwise(block.starts.tolist()))
