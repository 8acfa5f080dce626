"""Small programs, written by hand, that tests use unchanged or break, and programs with a change in one place."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from forestcoll.programs.model import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Message,
    Multicast,
    Program,
    Rank,
    Span,
    Task,
)

FIFO, MEMORY, PORT = ChannelKind.FIFO, ChannelKind.MEMORY, ChannelKind.PORT
IN, OUT = (Span(0, buffer, 0, 1) for buffer in (Buffer.INPUT, Buffer.OUTPUT))
FAR = Span(1, Buffer.OUTPUT, 0, 1)
"""The first chunk of the input and of the output of rank 0, and of the output of rank 1."""


def inp(rank: int, offset: int, count: int = 1) -> Span:
    """Chunks of an input."""
    return Span(rank, Buffer.INPUT, offset, count)


def out(rank: int, offset: int, count: int = 1) -> Span:
    """Chunks of an output."""
    return Span(rank, Buffer.OUTPUT, offset, count)


def scratch(rank: int, offset: int, count: int = 1, *, packets: bool = False) -> Span:
    """Chunks of scratch."""
    return Span(rank, Buffer.SCRATCH, offset, count, packets)


def move(sources: object, targets: object, **more: Any) -> Instruction:
    """An instruction that moves data; a single place needs no tuple."""
    return Instruction(sources=_places(sources), targets=_places(targets), **more)


def _places(places: Any) -> Any:
    return (places,) if isinstance(places, Span | Message | Multicast) else tuple(places)


def after(block: int, instruction: int) -> tuple[Dependency, ...]:
    """One dependency."""
    return (Dependency(block, instruction),)


def program(
    task: Task,
    blocks: Sequence[Sequence[Sequence[Instruction]]],
    channels: Sequence[Channel],
    *,
    sizes: tuple[int, int, int],
    **more: Any,
) -> Program:
    """A program of ranks whose blocks have these instructions and whose buffers all have these sizes."""
    semaphores = more.pop("semaphores", ())
    ranks = tuple(Rank(tuple(Block(tuple(each)) for each in rank), *sizes, semaphores) for rank in blocks)
    return Program(name="small", task=task, ranks=ranks, channels=tuple(channels), **more)


PAIR = (Channel(FIFO, 0, 1), Channel(FIFO, 1, 0))


def exchange(**more: Any) -> Program:
    """An allgather of two ranks: each copies its own chunk, sends it, and receives the other's."""
    blocks = [
        [[move(inp(rank, 0), out(rank, rank)), move(inp(rank, 0), Message(rank, 1))],
         [move(Message(1 - rank, 1), out(rank, 1 - rank))]]
        for rank in (0, 1)
    ]  # fmt: skip
    return program(Task.ALLGATHER, blocks, PAIR, sizes=(1, 2, 0), chunks=2, shards=(1, 1), **more)


def relay(**more: Any) -> Program:
    """A broadcast from rank 0 over rank 1, where one block receives and another sends, to rank 2."""
    channels = (Channel(FIFO, 0, 1), Channel(FIFO, 1, 2))
    blocks = [
        [[move(inp(0, 0, 2), out(0, 0, 2)), move(inp(0, 0, 2), Message(0, 2))]],
        [[move(Message(0, 2), out(1, 0, 2))], [move(out(1, 0, 2), Message(1, 2), after=after(0, 0))]],
        [[move(Message(1, 2), out(2, 0, 2))]],
    ]
    return program(Task.BROADCAST, blocks, channels, sizes=(2, 2, 0), chunks=2, root=0, **more)


def sum_up(**more: Any) -> Program:
    """An allreduce of three ranks: rank 1 adds to what comes from rank 0, rank 2 makes the sum, and it goes back."""
    channels = (Channel(FIFO, 0, 1), Channel(FIFO, 1, 2), Channel(FIFO, 2, 1), Channel(FIFO, 1, 0))
    blocks = [
        [[move(inp(0, 0), Message(0, 1))], [move(Message(3, 1), out(0, 0))]],
        [[move([Message(0, 1), inp(1, 0)], Message(1, 1))], [move(Message(2, 1), [out(1, 0), Message(3, 1)])]],
        [[move([Message(1, 1), inp(2, 0)], out(2, 0))], [move(out(2, 0), Message(2, 1), after=after(0, 0))]],
    ]
    return program(Task.ALLREDUCE, blocks, channels, sizes=(1, 1, 0), chunks=1, in_place=True, **more)


def put(kind: ChannelKind = MEMORY, **more: Any) -> Program:
    """A broadcast from rank 0 to rank 1, which signals its start and then waits for the signal after the data."""
    channels = (Channel(kind, 0, 1), Channel(kind, 1, 0))
    flush = [Instruction(flushes=(0,))] if kind is PORT else []
    blocks = [
        [[
            Instruction(waits=(1,), relaxed=True), move(inp(0, 0), out(1, 0), channel=0), Instruction(signals=(0,)),
            move(inp(0, 0), out(0, 0)), *flush,
        ]],
        [[Instruction(signals=(1,), relaxed=True), Instruction(waits=(0,))]],
    ]  # fmt: skip
    return program(Task.BROADCAST, blocks, channels, sizes=(1, 1, 1), chunks=1, root=0, **more)


Place: TypeAlias = tuple[int, int, int]


def with_block(program: Program, rank: int, block: int, instructions: tuple[Instruction, ...]) -> Program:
    """The program with other instructions in one block."""
    blocks = list(program.ranks[rank].blocks)
    blocks[block] = Block(instructions)
    ranks = list(program.ranks)
    ranks[rank] = replace(ranks[rank], blocks=tuple(blocks))
    return replace(program, ranks=tuple(ranks))


def with_instruction(program: Program, place: Place, *instructions: Instruction) -> Program:
    """The program with other instructions in the place of one."""
    rank, block, number = place
    listed = program.ranks[rank].blocks[block].instructions
    return with_block(program, rank, block, (*listed[:number], *instructions, *listed[number + 1 :]))


def changed(base: Program, place: Place, **values: Any) -> Program:
    """The program with other values of one instruction."""
    rank, block, number = place
    return with_instruction(base, place, replace(base.ranks[rank].blocks[block].instructions[number], **values))
