"""Programs in rounds and messages: what a runtime does with data that is larger than it can move at once.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap. All rounds are alike, so their tables are copies of the rows of one round.

Within a round, an instruction of MSCCL sends its chunks in messages, and a message with the protocol Simple in two
slices. A block that receives and sends on in one instruction does so slice by slice.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from forestcoll.core.events import EventTables, Numbers, Rows
from forestcoll.program import Loop, Program
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
        tables: its tables.
        rounds: the number of rounds, 1 or more.
    """
    whole = not _turns(program)
    loops = [block.loops for rank in program.ranks for block in rank.blocks]
    parts = [
        (first, length, rounds if whole or repeats else 1, block)
        for block, (begin, end) in enumerate(pairwise(tables["block_starts"].tolist()))
        for first, length, repeats in _parts(begin, end, loops[block])
    ]
    firsts, lengths, times, owners = np.array(parts, dtype=np.int64).reshape(-1, 4).T
    chosen, turns = _repeated(firsts, lengths, times)
    sizes = np.bincount(owners, lengths * times, minlength=len(loops))
    instructions = tables["instructions"].reshape(-1, COLUMNS)[chosen].reshape(-1)
    changed = {
        "block_starts": np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        "instructions": np.ascontiguousarray(instructions),
    }
    every = cast("dict[str, Rows]", tables)
    lists = {name: _taken(every[name], chosen) for name in LISTS}
    if whole:
        lists["after"] = _later(lists["after"], turns, np.diff(tables["block_starts"]))
    return cast("EventTables", {**tables, **changed, **lists})


def _turns(program: Program) -> set[int]:
    return {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}


def _parts(begin: int, end: int, loops: Sequence[Loop]) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts of a block: the first instruction of one round, how many there are, and whether they repeat."""
    done = begin
    for loop in loops:
        first = begin + loop.first
        yield done, first - done, False
        yield first, loop.length, True
        done = first + loop.length * loop.times
    yield done, end - done, False


def _repeated(firsts: IntArray, lengths: IntArray, times: IntArray) -> tuple[IntArray, IntArray]:
    """Return the numbers of all instructions if each part is repeated, and the round of each in its part."""
    rows = np.repeat(np.arange(len(firsts)), lengths * times)
    ends = np.cumsum(lengths * times)
    within = np.arange(len(rows)) - np.repeat(ends - lengths * times, lengths * times)
    turns, places = np.divmod(within, np.maximum(lengths, 1)[rows])
    return firsts[rows] + places, turns


def _taken(rows: Rows, chosen: IntArray) -> Rows:
    """Return the chosen rows, in their order."""
    starts, values = rows
    lengths = np.diff(starts)[chosen]
    ends = np.cumsum(lengths, dtype=np.int64)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[chosen] - (ends - lengths), lengths)
    return np.concatenate(([0], ends)).astype(np.int32), values[places]


def _later(rows: Rows, turns: IntArray, sizes: Numbers) -> Rows:
    """Return dependencies, which are pairs of a block and an instruction, in the rounds of those that wait."""
    starts, values = rows
    pairs = values.reshape(-1, 2).copy()
    pairs[:, 1] += np.repeat(turns, np.diff(starts) // 2).astype(np.int32) * sizes[pairs[:, 0]]
    return starts, pairs.reshape(-1)


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
    chosen, places = _repeated(np.arange(len(table)), np.ones(len(table), dtype=np.int64), parts)
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
