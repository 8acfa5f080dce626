"""An oracle for small programs over FIFO channels: tries every order in which instructions can be done, on numbers.

It shares nothing with the interpreter: memory is a tuple of sets with counts, instructions are atomic, and all orders
are tried. So it finds fewer faults than the interpreter (none between two blocks that work at the same time), but every
fault that it finds is real.
"""

from collections import Counter
from typing import TypeAlias

from forestcoll.programs.model import Buffer, Instruction, Message, Program, Span, Task

Sum: TypeAlias = tuple[tuple[tuple[int, int], int], ...]
"""How often each (rank, chunk) is in a sum."""
State: TypeAlias = tuple[tuple[int, ...], tuple[Sum | None, ...], tuple[tuple[Sum, ...], ...]]
"""The progress of each block, the content of each cell, and the messages on their way over each channel."""

WRONG: State = ((), (), ())
"""The state after a read of a cell that was never written."""

MOST_STATES = 2_000


class TooManyOrders(Exception):  # noqa: N818 (not an error: the example is skipped)
    """There are too many states to visit."""


def goes_right_in_every_order(program: Program) -> bool:
    """Return whether every order ends with the correct data."""
    blocks = [(rank, block) for rank, each in enumerate(program.ranks) for block in range(len(each.blocks))]
    first: State = ((0,) * len(blocks), _inputs(program), ((),) * len(program.channels))
    seen, waiting = {first}, [first]
    while waiting:
        state = waiting.pop()
        after = [each for place in range(len(blocks)) if (each := _step(program, blocks, state, place)) is not None]
        if WRONG in after or not (after or _is_right(program, blocks, state)):
            return False
        waiting += [each for each in after if each not in seen]
        seen.update(after)
        if len(seen) > MOST_STATES:
            raise TooManyOrders
    return True


def _cell(program: Program, rank: int, buffer: Buffer, chunk: int) -> int:
    sizes = [(each.input_chunks, each.output_chunks, each.scratch_chunks) for each in program.ranks]
    buffers = [Buffer.INPUT, Buffer.OUTPUT, Buffer.SCRATCH]
    return sum(map(sum, sizes[:rank])) + sum(sizes[rank][: buffers.index(buffer)]) + chunk


def _inputs(program: Program) -> tuple[Sum | None, ...]:
    size = sum(each.input_chunks + each.output_chunks + each.scratch_chunks for each in program.ranks)
    memory: list[Sum | None] = [None] * size
    for rank in range(len(program.ranks)):
        for chunk in range(program.chunks):
            if program.task is not Task.ALLGATHER:
                memory[_cell(program, rank, Buffer.INPUT, chunk)] = (((rank, chunk), 1),)
            elif (begin := sum(program.shards[:rank])) <= chunk < begin + program.shards[rank]:
                memory[_cell(program, rank, Buffer.INPUT, chunk - begin)] = (((rank, chunk), 1),)
    return tuple(memory)


def _step(program: Program, blocks: list[tuple[int, int]], state: State, place: int) -> State | None:
    done, listed, channels = state
    rank, block = blocks[place]
    instructions = program.ranks[rank].blocks[block].instructions
    if done[place] == len(instructions):
        return None
    instruction = instructions[done[place]]
    if not _may_go(program, blocks, state, rank, instruction):
        return None
    memory, queues = list(listed), [list(each) for each in channels]
    sums: list[Counter[tuple[int, int]]] = [Counter() for _ in range(instruction.count)]
    for source in instruction.sources:
        for chunk in range(instruction.count):
            if isinstance(source, Message):
                sums[chunk].update(dict(queues[source.channel].pop(0)))
                continue
            assert isinstance(source, Span)
            held = memory[_cell(program, source.rank, source.buffer, source.offset + chunk)]
            if held is None:
                return WRONG
            sums[chunk].update(dict(held))
    for target in instruction.targets:
        for chunk in range(instruction.count):
            value = tuple(sorted(sums[chunk].items()))
            if isinstance(target, Message):
                queues[target.channel].append(value)
            else:
                assert isinstance(target, Span)
                memory[_cell(program, target.rank, target.buffer, target.offset + chunk)] = value
    moved = (*done[:place], done[place] + 1, *done[place + 1 :])
    return moved, tuple(memory), tuple(map(tuple, queues))


def _may_go(program: Program, blocks: list[tuple[int, int]], state: State, rank: int, instruction: Instruction) -> bool:
    done, _, channels = state
    for each in instruction.after:
        if done[blocks.index((rank, each.block))] <= each.instruction:
            return False
    for place in instruction.sources:
        if isinstance(place, Message) and len(channels[place.channel]) < place.count:
            return False
    for place in instruction.targets:
        if not isinstance(place, Message) or program.slots is None:
            continue
        if len(channels[place.channel]) + place.count > program.slots:
            return False
    return True


def _is_right(program: Program, blocks: list[tuple[int, int]], state: State) -> bool:
    done, listed, channels = state
    lengths = tuple(len(program.ranks[rank].blocks[block].instructions) for rank, block in blocks)
    if done != lengths or any(channels):
        return False
    ranks = range(len(program.ranks))
    for rank in ranks:
        for chunk in range(program.chunks):
            if program.task in {Task.ALLGATHER, Task.BROADCAST}:
                owners = (program.root or 0,) if program.task is Task.BROADCAST else ()
                wanted: tuple[int, ...] = owners or (
                    next(each for each in ranks if sum(program.shards[: each + 1]) > chunk),
                )
            else:
                wanted = tuple(ranks)
            begin = 0
            if program.task is Task.REDUCE and rank != program.root:
                continue
            if program.task is Task.REDUCE_SCATTER:
                begin = sum(program.shards[:rank])
                if not begin <= chunk < begin + program.shards[rank]:
                    continue
            right = tuple(((each, chunk), 1) for each in wanted)
            if listed[_cell(program, rank, Buffer.OUTPUT, chunk - begin)] != right:
                return False
    return True
