"""The memory of all ranks as one row of cells, a cell for each chunk of each buffer.

If a program is run in place, the input and the output of a rank share cells as the task says.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from forestcoll.programs.model import Buffer, Program, Span, Task, buffer_chunks, data_chunks


@dataclass(frozen=True)
class Memory:
    """Which cells belong to which buffer.

    Attributes:
        program: the program that owns the memory.
        in_place: whether input and output share cells.
        starts: for each rank, the first cell of its input, its output and its scratch buffer.
        size: the number of cells.
        rank_starts: the first cell of each rank, and one past the last cell.
    """

    program: Program
    in_place: bool
    starts: tuple[dict[Buffer, int], ...]
    size: int
    rank_starts: npt.NDArray[np.int64]

    @staticmethod
    def of(program: Program, *, in_place: bool) -> "Memory":
        """Lay out the buffers of `program`; with `in_place`, one of input and output lies inside the other."""
        begins = list(accumulate(program.shards, initial=0))
        end, starts, rank_starts = 0, [], [0]
        for rank, each in enumerate(program.ranks):
            needs = dict(zip((Buffer.INPUT, Buffer.OUTPUT), data_chunks(program, rank), strict=True))
            sizes = {buffer: max(need, buffer_chunks(each, buffer)) for buffer, need in needs.items()}
            shifts = {Buffer.INPUT: 0, Buffer.OUTPUT: sizes[Buffer.INPUT]}
            if in_place:
                shifts = _shifts_in_place(program.task, begins[rank] if program.shards else 0)
            scratch = max(shifts[buffer] + sizes[buffer] for buffer in sizes)
            starts.append({buffer: end + shift for buffer, shift in (shifts | {Buffer.SCRATCH: scratch}).items()})
            end += scratch + each.scratch_chunks
            rank_starts.append(end)
        return Memory(program, in_place, tuple(starts), end, np.array(rank_starts))

    def cells(self, rank: int, buffer: Buffer, offset: int, count: int) -> slice:
        """Return the cells of some chunks of a buffer."""
        first = self.starts[rank][buffer] + offset
        return slice(first, first + count)

    def of_span(self, span: Span) -> slice:
        """Return the cells of `span`."""
        first = self.starts[span.rank][span.buffer] + span.offset
        return slice(first, first + span.count)

    def rank_of(self, cell: int) -> int:
        """Return the rank that owns `cell`."""
        return int(np.searchsorted(self.rank_starts, cell, side="right")) - 1

    def name(self, cell: int) -> str:
        """Return the name of `cell` in messages, such as "chunk 3 of the output buffer of rank 1"."""
        rank = self.rank_of(cell)
        starts = self.starts[rank]
        scratch = starts[Buffer.SCRATCH]
        if cell >= scratch:
            return f"chunk {cell - scratch} of the scratch buffer of rank {rank}"
        reachable = [buffer for buffer in (Buffer.OUTPUT, Buffer.INPUT) if starts[buffer] <= cell]
        inside = [each for each in reachable if cell - starts[each] < self._extent(rank, each)]
        buffer = (inside or reachable)[0]
        return f"chunk {cell - starts[buffer]} of the {buffer} buffer of rank {rank}"

    def _extent(self, rank: int, buffer: Buffer) -> int:
        needs = data_chunks(self.program, rank)
        need = needs[0] if buffer is Buffer.INPUT else needs[1]
        return max(need, buffer_chunks(self.program.ranks[rank], buffer))


def _shifts_in_place(task: Task, begin: int) -> dict[Buffer, int]:
    """Return where input and output begin in the memory that they share."""
    return {
        Buffer.INPUT: begin if task is Task.ALLGATHER else 0,
        Buffer.OUTPUT: begin if task is Task.REDUCE_SCATTER else 0,
    }
