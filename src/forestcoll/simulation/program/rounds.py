"""Programs in rounds: what a runtime does with data that is larger than one round of the program can move.

MSCCL repeats a whole program, each time on as many bytes of each chunk as a slot of a channel holds. MSCCL++ repeats
the loops (pipelines) of a plan, each time on a fixed number of bytes of each chunk. No rank waits for others between
two rounds, so rounds overlap.
"""

from collections.abc import Iterator
from dataclasses import replace

from forestcoll.program import Block, Dependency, Instruction, Program


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
