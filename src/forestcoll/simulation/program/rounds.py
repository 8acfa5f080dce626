"""Programs in rounds: what a runtime does with data that is larger than one round of the program can move.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap. All rounds are alike, so their tables are copies of the rows of one round.
"""

from collections.abc import Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from forestcoll.core.events import EventTables, Numbers, Rows
from forestcoll.program import Block, Program
from forestcoll.simulation.program.tables import COLUMNS, LISTS

IntArray = npt.NDArray[np.int64]


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
    blocks = [block for rank in program.ranks for block in rank.blocks]
    parts = [
        (first, length, rounds if whole or repeats else 1, block)
        for block, (begin, each) in enumerate(zip(tables["block_starts"].tolist(), blocks, strict=False))
        for first, length, repeats in _parts(begin, each)
    ]
    firsts, lengths, times, owners = np.array(parts, dtype=np.int64).reshape(-1, 4).T
    chosen, turns = _repeated(firsts, lengths, times)
    sizes = np.bincount(owners, lengths * times, minlength=len(blocks))
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


def _parts(begin: int, block: Block) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts of a block: the first instruction of one round, how many there are, and whether they repeat."""
    done = 0
    for loop in block.loops:
        yield begin + done, loop.first - done, False
        yield begin + loop.first, loop.length, True
        done = loop.first + loop.length * loop.times
    yield begin + done, len(block.instructions) - done, False


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
