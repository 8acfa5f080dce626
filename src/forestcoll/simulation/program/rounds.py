"""Programs in rounds and messages: what a runtime does with data that is larger than it can move at once.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap. Within a round, an instruction of MSCCL sends its chunks in messages, and a message with
the protocol Simple in two slices. A block that receives and sends on in one instruction does so slice by slice.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from forestcoll.program import Block, Dependency, Instruction, Message, Program


def in_rounds(program: Program, rounds: int) -> Program:
    """Return a program that takes as long as `rounds` rounds of `program`; its chunks are the parts that a round moves.

    If blocks have loops, only the loops are repeated: each does `rounds` rounds instead of its own. Else everything is.
    The result has the amounts, the order and the dependencies of the rounds, but not their places in the buffers, so
    only its time means something.

    Args:
        program: a program without packets.
        rounds: the number of rounds, 1 or more.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.lowering import lower
        >>> program = lower(generate("ring:nodes=3")).program
        >>> repeated = in_rounds(program, 4)
        >>> repeated.chunks // program.chunks
        4
    """
    times = {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}
    if times:
        blocks = [[_looped(block, rounds) for block in rank.blocks] for rank in program.ranks]
        chunks = program.chunks // min(times) * rounds
    else:
        blocks = [list(_repeated(rank.blocks, rounds)) for rank in program.ranks]
        chunks = program.chunks * rounds
    ranks = tuple(replace(rank, blocks=tuple(listed)) for rank, listed in zip(program.ranks, blocks, strict=True))
    return replace(program, ranks=ranks, chunks=chunks, shards=())


def _looped(block: Block, rounds: int) -> Block:
    listed: list[Instruction] = []
    done = 0
    for loop in block.loops:
        listed += block.instructions[done : loop.first]
        listed += block.instructions[loop.first : loop.first + loop.length] * rounds
        done = loop.first + loop.length * loop.times
    return Block((*listed, *block.instructions[done:]))


def _repeated(blocks: tuple[Block, ...], rounds: int) -> Iterator[Block]:
    lengths = [len(block.instructions) for block in blocks]
    for block in blocks:
        yield Block(tuple(_in_round(each, turn, lengths) for turn in range(rounds) for each in block.instructions))


def _in_round(instruction: Instruction, turn: int, lengths: list[int]) -> Instruction:
    if not instruction.after or not turn:
        return instruction
    after = tuple(Dependency(each.block, each.instruction + turn * lengths[each.block]) for each in instruction.after)
    return replace(instruction, after=after)


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
