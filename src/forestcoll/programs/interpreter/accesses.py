"""The last read and write of each cell, and whether they are ordered before the present access.

The last write of each cell is kept, and the reads since. A read that is before a later read need not be kept. An access
that is not ordered after the last write, or a write that is not ordered after every read since, is a race: in some run
the two happen in the opposite order.
"""

import numpy as np
import numpy.typing as npt

from forestcoll.programs.interpreter.clocks import Clocks, Row

NO_ACTOR = -1


class Accesses:
    """The last accesses of all cells; at first, the start of each rank counts as the write of all its cells."""

    def __init__(self, clocks: Clocks, ranks_of_cells: npt.NDArray[np.int64]) -> None:
        self._clocks = clocks
        self.writers = (clocks.first_start + ranks_of_cells).astype(np.int32)
        self.written = np.ones(len(self.writers), dtype=np.int32)
        self.readers = np.full(len(self.writers), NO_ACTOR, dtype=np.int32)
        self.read = np.zeros(len(self.writers), dtype=np.int32)
        self._more: dict[int, dict[int, int]] = {}

    def reads(self, actor: int, cells: slice) -> tuple[int, int, int] | None:
        """Record that `actor` reads `cells`; return (cell, writer, tick) of a write that is not before it, or None."""
        if (cell := self._unordered(actor, cells, self.writers, self.written)) is not None:
            return cell, int(self.writers[cell]), int(self.written[cell])
        row, tick = self._clocks.rows[actor], self._clocks.ticks[actor]
        if cells.stop - cells.start == 1:  # the most frequent case; without arrays it is ten times as fast
            self._reads_one(actor, cells.start, row, tick)
            return None
        readers = self.readers[cells]
        covered = (readers == NO_ACTOR) | (readers == actor) | (row[readers] >= self.read[cells])
        if not covered.all():
            for cell in (np.flatnonzero(~covered) + cells.start).tolist():
                self._more.setdefault(cell, {})[int(self.readers[cell])] = int(self.read[cell])
        readers[:] = actor
        self.read[cells] = tick
        return None

    def _reads_one(self, actor: int, cell: int, row: Row, tick: int) -> None:
        reader, when = int(self.readers[cell]), int(self.read[cell])
        if reader not in {NO_ACTOR, actor} and row[reader] < when:
            self._more.setdefault(cell, {})[reader] = when
        self.readers[cell] = actor
        self.read[cell] = tick

    def writes(self, actor: int, cells: slice) -> tuple[int, int, int, bool] | None:
        """Record that `actor` writes `cells`.

        Returns:
            None if all earlier accesses are before it; else the cell, the other actor, its tick, and whether it read.
        """
        if (cell := self._unordered(actor, cells, self.writers, self.written)) is not None:
            return cell, int(self.writers[cell]), int(self.written[cell]), False
        if (cell := self._unordered(actor, cells, self.readers, self.read)) is not None:
            return cell, int(self.readers[cell]), int(self.read[cell]), True
        if self._more and (found := self._unordered_more(actor, cells)) is not None:
            return (*found, True)
        self.writers[cells] = actor
        self.written[cells] = self._clocks.ticks[actor]
        self.readers[cells] = NO_ACTOR
        return None

    def late_read(self, known: Row, first: int, last: int) -> tuple[int, int, int] | None:
        """Return the cell, the reader and the tick of a read of `first` to `last - 1` that is not `known`, or None."""
        readers, read = self.readers[first:last], self.read[first:last]
        late = np.flatnonzero((readers != NO_ACTOR) & (known[readers] < read))
        if len(late):
            cell = first + int(late[0])
            return cell, int(self.readers[cell]), int(self.read[cell])
        for cell, more in self._more.items():
            for who, when in more.items():
                if first <= cell < last and known[who] < when:
                    return cell, who, when
        return None

    def takes_over(self, actor: int, cells: slice) -> None:
        """Record that the content of `cells` is present as soon as `actor` completes its present instruction."""
        self.writers[cells] = actor
        self.written[cells] = self._clocks.ticks[actor]

    def _unordered(
        self, actor: int, cells: slice, actors: npt.NDArray[np.int32], ticks: npt.NDArray[np.int32]
    ) -> int | None:
        """Return the first of `cells` whose last access is neither before nor part of the present instruction."""
        row = self._clocks.rows[actor]
        if cells.stop - cells.start == 1:
            one, tick = int(actors[cells.start]), int(ticks[cells.start])
            known = one == NO_ACTOR or row[one] >= tick or (one == actor and tick == self._clocks.ticks[actor])
            return None if known else cells.start
        who, when = actors[cells], ticks[cells]
        ordered = (row[who] >= when) | (who == NO_ACTOR) | ((who == actor) & (when == self._clocks.ticks[actor]))
        return None if ordered.all() else int(np.argmin(ordered)) + cells.start

    def _unordered_more(self, actor: int, cells: slice) -> tuple[int, int, int] | None:
        row, now = self._clocks.rows[actor], self._clocks.ticks[actor]
        for cell in range(cells.start, cells.stop):
            for who, when in self._more.pop(cell, {}).items():
                if row[who] < when and (who, when) != (actor, now):
                    return cell, who, when
        return None
