"""Programs in rounds and messages: what a runtime does with data that is larger than it can move at once.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap. All rounds are alike, so their tables are copies of the rows of one round.

Within a round, an instruction of MSCCL sends its chunks in messages, and a message with the protocol Simple in two
slices. A block that receives and sends on in one instruction does so slice by slice.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import cast

import numpy as np
import numpy.typing as npt

from forestcoll.core.events import EventTables, Numbers, Rows
from forestcoll.program import Block, Dependency, Instruction, Message, Program
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


def in_messages(program: Program, most: int, slices: int) -> Program:
    """Return a program that takes as long as `program` in a runtime that sends messages in slices.

    The chunks of the result are slices of those of `program`. It has the amounts, the order and the dependencies of the
    messages, but not their places in the buffers, so only its time means something.

    Args:
        program: a program of messages, without loops.
        most: the most chunks of a message.
        slices: the number of slices of a message.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.lowering import lower
        >>> program = lower(generate("ring:nodes=3")).program
        >>> in_messages(program, 1, 2).chunks // program.chunks
        2
    """
    ranks = []
    for rank in program.ranks:
        parts = [[_in_messages(each, most, slices) for each in block.instructions] for block in rank.blocks]
        ends = [list(accumulate(map(len, block))) for block in parts]
        blocks = (Block(tuple(each for listed in block for each in _after_ends(listed, ends))) for block in parts)
        ranks.append(replace(rank, blocks=tuple(blocks)))
    slots = None if program.slots is None else program.slots * slices
    return replace(program, ranks=tuple(ranks), chunks=program.chunks * slices, slots=slots, shards=())


def _in_messages(instruction: Instruction, most: int, slices: int) -> list[Instruction]:
    """Return the slices of an instruction; one without messages only copies, and stays whole."""
    if not any(isinstance(place, Message) for place in instruction.places):
        return [_with_count(instruction, instruction.count * slices)]
    whole, rest = divmod(instruction.count, most)
    full = [_with_count(instruction, most)] * (whole * slices)
    return full + [_with_count(instruction, rest)] * (slices if rest else 0)


def _with_count(instruction: Instruction, count: int) -> Instruction:
    sources = tuple(replace(place, count=count) for place in instruction.sources)
    targets = tuple(replace(place, count=count) for place in instruction.targets)
    return replace(instruction, sources=sources, targets=targets)


def _after_ends(parts: list[Instruction], ends: list[list[int]]) -> Iterator[Instruction]:
    """Yield the slices of an instruction: the first one waits for the last slices of what the instruction waits for.

    Args:
        parts: the slices.
        ends: for each block and each of its instructions, the number of slices up to its last one.
    """
    if not parts[0].after:
        yield from parts
        return
    after = tuple(Dependency(each.block, ends[each.block][each.instruction] - 1) for each in parts[0].after)
    yield replace(parts[0], after=after)
    if len(parts) > 1:
        alone = {id(part): replace(part, after=()) for part in parts}
        yield from (alone[id(part)] for part in parts[1:])
