"""Mutations that break a program; each yields broken programs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from forestcoll.programs.model import Block, Buffer, Instruction, Message, Program, Span, buffer_chunks

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


def _changed(program: Program, change: Callable[[int, Instruction], Iterator[Instruction]]) -> Iterator[Program]:
    for rank, block, number, instruction in program.instructions():
        for other in change(rank, instruction):
            yield with_instruction(program, (rank, block, number), other)


def wrong_offset(program: Program) -> Iterator[Program]:
    """A span begins one chunk further, or earlier at the end of its buffer."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        for number, place in enumerate(each.sources):
            if isinstance(place, Span) and (span := _shifted(program, place)) is not None:
                yield replace(each, sources=(*each.sources[:number], span, *each.sources[number + 1 :]))
        for number, place in enumerate(each.targets):
            if isinstance(place, Span) and (span := _shifted(program, place)) is not None:
                yield replace(each, targets=(*each.targets[:number], span, *each.targets[number + 1 :]))

    return _changed(program, change)


def _shifted(program: Program, span: Span) -> Span | None:
    size = buffer_chunks(program.ranks[span.rank], span.buffer)
    for offset in (span.offset + 1, span.offset - 1):
        if offset >= 0 and offset + span.count <= size:
            return replace(span, offset=offset)
    return None


def wrong_buffer(program: Program) -> Iterator[Program]:
    """A sent chunk is read from the output, or a received chunk is written to scratch."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        for number, place in enumerate(each.targets):
            if isinstance(place, Span) and place.buffer is Buffer.OUTPUT:
                size = program.ranks[place.rank].scratch_chunks
                if place.offset + place.count <= size:
                    span = replace(place, buffer=Buffer.SCRATCH)
                    yield replace(each, targets=(*each.targets[:number], span, *each.targets[number + 1 :]))

    return _changed(program, change)


def wrong_channel(program: Program) -> Iterator[Program]:
    """A message goes over another channel of the rank."""

    def change(rank: int, each: Instruction) -> Iterator[Instruction]:
        for number, place in enumerate(each.targets):
            if isinstance(place, Message):
                others = [
                    other
                    for other, channel in enumerate(program.channels)
                    if channel.source == rank and other != place.channel
                ]
                for other in others[:1]:
                    message = replace(place, channel=other)
                    yield replace(each, targets=(*each.targets[:number], message, *each.targets[number + 1 :]))

    return _changed(program, change)


def missing_dependency(program: Program) -> Iterator[Program]:
    """An instruction lacks one of its dependencies."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        for number in range(len(each.after)):
            yield replace(each, after=each.after[:number] + each.after[number + 1 :])

    return _changed(program, change)


def dropped_block(program: Program) -> Iterator[Program]:
    """A block does nothing."""
    for rank, each in enumerate(program.ranks):
        for block in range(len(each.blocks)):
            yield with_block(program, rank, block, ())


def dropped_step(program: Program) -> Iterator[Program]:
    """An instruction does nothing."""
    return _changed(program, lambda _, each: iter([Instruction()] if each.places else []))


def swapped_steps(program: Program) -> Iterator[Program]:
    """Two consecutive instructions that use the same channel in the same direction change places."""
    for rank, each in enumerate(program.ranks):
        for block, listed in enumerate(each.blocks):
            for number in range(len(listed.instructions) - 1):
                one, two = listed.instructions[number : number + 2]
                if _messages(one) & _messages(two):
                    rest = listed.instructions
                    yield with_block(program, rank, block, (*rest[:number], two, one, *rest[number + 2 :]))


def _messages(instruction: Instruction) -> set[tuple[bool, int]]:
    ends = [(False, instruction.sources), (True, instruction.targets)]
    return {(sends, place.channel) for sends, places in ends for place in places if isinstance(place, Message)}


def wrong_reduce(program: Program) -> Iterator[Program]:
    """A summand is left out, or added twice."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        if len(each.sources) < 2:
            return
        for number, place in enumerate(each.sources):
            if isinstance(place, Span):
                yield replace(each, sources=each.sources[:number] + each.sources[number + 1 :])
                yield replace(each, sources=(*each.sources, place))

    return _changed(program, change)


MUTATIONS = (
    wrong_offset,
    wrong_buffer,
    wrong_channel,
    missing_dependency,
    dropped_block,
    dropped_step,
    swapped_steps,
    wrong_reduce,
)
