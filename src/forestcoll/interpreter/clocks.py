"""What is before what: vector clocks over a run.

Every block is an *actor* with a clock of its own, its instructions one tick each; so are the helper of each PORT
channel and the start of each rank. An actor's row says of each actor how much of what it did is before: rows are joined
where something is waited for. Two accesses are ordered in every run of the program, not only in this one, exactly if
the row of the later one covers the earlier one: what joins rows is the same in every run.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.program import ChannelKind, Program

Row: TypeAlias = npt.NDArray[np.signedinteger[Any]]


class Clocks:
    """The rows of all actors: first blocks, then helpers, then starts of ranks."""

    def __init__(self, program: Program, blocks: Iterable[tuple[int, int]]) -> None:
        """Begin before the first instruction: a block knows that its own rank has started."""
        owners = [rank for rank, _ in blocks]
        ports = [number for number, each in enumerate(program.channels) if each.kind is ChannelKind.PORT]
        self.helpers = {number: len(owners) + place for place, number in enumerate(ports)}
        owners += [program.channels[number].source for number in ports]
        self.first_start = len(owners)
        size = self.first_start + len(program.ranks)
        # no clock goes further than twice the longest block: what it does itself, and what it hands to a helper
        longest = max((len(block.instructions) for rank in program.ranks for block in rank.blocks), default=0)
        self.dtype: type[np.signedinteger[Any]] = np.int16 if 2 * longest + 2 < 2**15 else np.int32
        self.rows: Row = np.zeros((self.first_start, size), dtype=self.dtype)
        self.rows[np.arange(len(owners)), self.first_start + np.array(owners, dtype=np.int64)] = 1
        self.ticks = [0] * len(owners)
        self.met = [0] * len(owners)
        self._later: dict[int, Row] = {}

    def begin(self, actor: int, *, meets: bool) -> int:
        """Let an actor's next instruction begin, and return its tick."""
        self.ticks[actor] += 1
        if meets:
            self.met[actor] = self.ticks[actor]
            if (row := self._later.pop(actor, None)) is not None:
                np.maximum(self.rows[actor], row, out=self.rows[actor])
        self.rows[actor, actor] = self.met[actor] - 1
        return self.ticks[actor]

    def join(self, actor: int, row: Row, *, at_once: bool) -> None:
        """Let what `row` knows be before what `actor` does from now on, or from its next meeting on."""
        if at_once:
            np.maximum(self.rows[actor], row, out=self.rows[actor])
        elif actor in self._later:
            np.maximum(self._later[actor], row, out=self._later[actor])
        else:
            self._later[actor] = row.copy()

    def told(self, actor: int, *, done: bool) -> Row:
        """Return what others learn from `actor`.

        If `done`, what its present instruction does is before, provided that all threads are together for it.
        """
        row: Row = self.rows[actor].copy()
        if done and self.met[actor] == self.ticks[actor]:
            row[actor] = self.ticks[actor]
        return row

    def meet(self, actor: int) -> None:
        """Let all threads of `actor` be together at the end of its present instruction."""
        self.met[actor] = self.ticks[actor] + 1

    def start_of(self, rank: int) -> int:
        """Return the actor that is the start of `rank`."""
        return self.first_start + rank
