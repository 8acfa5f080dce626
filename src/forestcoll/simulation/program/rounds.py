"""Programs in rounds and messages: what a runtime does with data that is larger than it can move at once.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap. All rounds are alike, so the tables have the rows of one round, as loops.

Within a round, an instruction of MSCCL sends its chunks in messages, and a message with the protocol Simple in two
slices. A block that receives and sends on in one instruction does so slice by slice.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from forestcoll.kernels.events import EventTables, Rows
from forestcoll.programs.model import Block, Program
from forestcoll.simulation.program.tables import COLUMNS, LISTS

IntArray = npt.NDArray[np.int64]


class Messages(NamedTuple):
    """How a runtime sends the chunks of an instruction: the most chunks of a message, and the slices of a message."""

    chunks: int
    slices: int


def chunks_in_rounds(program: Program, rounds: int) -> int:
    """Return how many of the parts of a chunk that a round moves `rounds` rounds move together."""
    return program.chunks // min(_turns(program), default=1) * rounds


def tables_in_rounds(program: Program, tables: EventTables, rounds: int) -> EventTables:
    """Return the tables of `rounds` rounds of a program without packets.

    If blocks have loops, only the loops are repeated: each does `rounds` rounds instead of its own. Else everything is.

    Args:
        program: the program.
        tables: its tables, without loops.
        rounds: the number of rounds, 1 or more.
    """
    blocks = [block for rank in program.ranks for block in rank.blocks]
    ranges = list(pairwise(tables["block_starts"].tolist()))
    if not _turns(program):
        whole = [[(0, end - begin, rounds)] if end > begin else [] for begin, end in ranges]
        return {**tables, "loops": _rows_of(whole)}
    chosen = [begin + each for (begin, _), block in zip(ranges, blocks, strict=True) for each in _first_round(block)]
    starts = np.cumsum([0, *(sum(1 for _ in _first_round(block)) for block in blocks)])
    changed = {
        "block_starts": starts.astype(np.int32),
        "loops": _rows_of([list(_loops_of_rounds(block, rounds)) for block in blocks]),
        "instructions": np.ascontiguousarray(tables["instructions"].reshape(-1, COLUMNS)[chosen].reshape(-1)),
    }
    every = cast("dict[str, Rows]", tables)
    lists = {name: _taken(every[name], np.array(chosen, dtype=np.int64)) for name in LISTS}
    return cast("EventTables", {**tables, **changed, **lists})


def _turns(program: Program) -> set[int]:
    return {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}


def _first_round(block: Block) -> Iterator[int]:
    """Yield the instructions of a block, those of loops for one round only."""
    done = 0
    for loop in block.loops:
        yield from range(done, loop.first + loop.length)
        done = loop.first + loop.length * loop.times
    yield from range(done, len(block.instructions))


def _loops_of_rounds(block: Block, rounds: int) -> Iterator[tuple[int, int, int]]:
    """Yield the loops of a block: the first of the instructions of `_first_round`, their number, and the rounds."""
    left_out = 0
    for loop in block.loops:
        yield loop.first - left_out, loop.length, rounds
        left_out += loop.length * (loop.times - 1)


def _rows_of(lists: Sequence[Sequence[tuple[int, ...]]]) -> Rows:
    values = [value for each in lists for entry in each for value in entry]
    ends = np.cumsum([0, *(sum(map(len, each)) for each in lists)])
    return ends.astype(np.int32), np.array(values, dtype=np.int32)


def _taken(rows: Rows, chosen: IntArray) -> Rows:
    """Return the chosen rows, in their order."""
    starts, values = rows
    lengths = np.diff(starts)[chosen]
    ends = np.cumsum(lengths, dtype=np.int64)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[chosen] - (ends - lengths), lengths)
    return np.concatenate(([0], ends)).astype(np.int32), values[places]


def tables_in_messages(tables: EventTables, messages: Messages) -> EventTables:
    """Return the tables of a program of messages, without loops, in a runtime that sends messages in slices.

    An instruction with messages becomes the slices of its messages; the first slice waits for the last slices of what
    the instruction waits for. Other instructions stay whole. The result counts slices of chunks instead of chunks.

    Args:
        tables: the tables of the program.
        messages: the greatest messages, and their slices.
    """
    table = tables["instructions"].reshape(-1, COLUMNS)
    chunks, added = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    is_sent = (np.diff(tables["received"][0]) > 0) | (np.diff(tables["sent"][0]) > 0)
    full = np.where(is_sent, np.maximum(-(-chunks // messages.chunks), 1) - 1, 0)
    parts = np.where(is_sent, (full + 1) * messages.slices, 1)
    chosen = np.repeat(np.arange(len(table)), parts)
    places = np.arange(len(chosen)) - np.repeat(np.cumsum(parts) - parts, parts)
    rest = (chunks - full * messages.chunks) * np.where(is_sent, 1, messages.slices)
    instructions = table[chosen]
    instructions[:, 0] = np.where(places < (full * messages.slices)[chosen], messages.chunks, rest[chosen])
    instructions[:, 1] = (added // np.maximum(chunks, 1))[chosen] * instructions[:, 0]
    starts = np.concatenate(([0], np.cumsum(parts)))
    block_starts = starts[tables["block_starts"]]
    channels = tables["channels"].copy()
    slots = channels[2::3]  # of three columns, the last one; below 0 for no limit
    slots *= np.where(slots > 0, messages.slices, 1)
    every = cast("dict[str, Rows]", tables)
    lists = {name: _taken(every[name], chosen) for name in LISTS}
    lists["after"] = _after_slices(tables, starts, places)
    changed = {
        "block_starts": block_starts.astype(np.int32),
        "instructions": np.ascontiguousarray(instructions.reshape(-1)),
        "channels": channels,
    }
    return cast("EventTables", {**tables, **changed, **lists})


def _after_slices(tables: EventTables, starts: IntArray, places: IntArray) -> Rows:
    """Return dependencies, which are pairs of a block and an instruction, of the first slice of each instruction.

    Args:
        tables: the tables of the program in whole messages.
        starts: for each instruction, its first slice, and the number of slices.
        places: for each slice, its place in its instruction.
    """
    rows, values = tables["after"]
    lengths = np.zeros(len(places), dtype=np.int64)
    lengths[places == 0] = np.diff(rows)
    pairs = values.reshape(-1, 2).copy()
    begins = tables["block_starts"].astype(np.int64)[pairs[:, 0]]
    pairs[:, 1] = starts[begins + pairs[:, 1] + 1] - starts[begins] - 1
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), pairs.reshape(-1)
