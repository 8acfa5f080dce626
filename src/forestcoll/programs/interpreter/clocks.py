"""The order of instructions: vector clocks over a run.

Every block is an *actor* with its own clock, on which each instruction is one tick. The helper of each PORT channel and
the start of each rank are actors too. The row of an actor says, for each actor, how many of its ticks are before the
present one; waiting joins rows. Two accesses are ordered in every run of the program exactly if the row of the later
one covers the earlier one, because the same rows are joined in every run.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.programs.interpreter.components import Component
from forestcoll.programs.model import Program

Row: TypeAlias = npt.NDArray[np.signedinteger[Any]]


MOST_ACTORS = 40_000
"""The most actors of a component; its rows take about 3 GB."""


class Clocks:
    """The rows of all actors of a component: first blocks, by their `numbers`, then helpers, then starts of ranks."""

    def __init__(self, program: Program, component: Component) -> None:
        """Start before the first instruction of a component: the start of a rank is before all blocks of the rank.

        Raises:
            InputError: the component has too many actors.
        """
        owners, ports = [rank for rank, _ in component.blocks], component.ports
        self.numbers = {block: number for number, block in enumerate(component.blocks)}
        self.helpers = {number: len(owners) + place for place, number in enumerate(ports)}
        owners += [program.channels[number].source for number in ports]
        self.first_start = len(owners)
        size = self.first_start + len(program.ranks)
        if size > MOST_ACTORS:
            raise InputError(
                f"{program.name}: has {size} thread blocks, helpers and ranks whose order is not simple enough to be "
                f"proven quickly; at most {MOST_ACTORS} can be checked then; check a program of fewer ranks"
            )
        # no clock exceeds twice the length of the longest block: its own ticks, and those of a helper
        longest = max((len(block.instructions) for rank in program.ranks for block in rank.blocks), default=0)
        self.dtype: type[np.signedinteger[Any]] = np.int16 if 2 * longest + 2 < 2**15 else np.int32
        self.rows: Row = np.zeros((self.first_start, size), dtype=self.dtype)
        self.rows[np.arange(len(owners)), self.first_start + np.array(owners, dtype=np.int64)] = 1
        self.ticks = [0] * len(owners)
        self.met = [0] * len(owners)
        self._later: dict[int, Row] = {}

    def begin(self, actor: int, *, meets: bool) -> int:
        """Begin the next instruction of an actor, and return its tick."""
        self.ticks[actor] += 1
        if meets:
            self.met[actor] = self.ticks[actor]
            if (row := self._later.pop(actor, None)) is not None:
                np.maximum(self.rows[actor], row, out=self.rows[actor])
        self.rows[actor, actor] = self.met[actor] - 1
        return self.ticks[actor]

    def join(self, actor: int, row: Row, *, at_once: bool) -> None:
        """Order what `row` covers before everything that `actor` does from now on, or from its next meeting on."""
        if at_once:
            np.maximum(self.rows[actor], row, out=self.rows[actor])
        elif actor in self._later:
            np.maximum(self._later[actor], row, out=self._later[actor])
        else:
            self._later[actor] = row.copy()

    def row_for_others(self, actor: int, *, done: bool) -> Row:
        """Return the row that others receive from `actor`.

        With `done`, the row includes the present instruction, provided that all threads of the block meet for it.
        """
        row: Row = self.rows[actor].copy()
        if done and self.met[actor] == self.ticks[actor]:
            row[actor] = self.ticks[actor]
        return row

    def meet(self, actor: int) -> None:
        """Make all threads of `actor` meet at the end of its present instruction."""
        self.met[actor] = self.ticks[actor] + 1

    def start_of(self, rank: int) -> int:
        """Return the actor that represents the start of `rank`."""
        return self.first_start + rank
