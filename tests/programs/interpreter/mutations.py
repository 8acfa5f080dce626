"""Mutations that break a program; each yields broken programs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from forestcoll.programs.model import Buffer, Instruction, Message, Program, Span, buffer_chunks
from small_programs import with_block, with_instruction


def _changed(program: Program, change: Callable[[int, Instruction], Iterator[Instruction]]) -> Iterator[Program]:
    for rank, block, number, instruction in program.instructions():
        for other in change(rank, instruction):
            yield with_instruction(program, (rank, block, number), other)


def _places(instruction: Instruction) -> Iterator[tuple[str, tuple[Any, ...], int, Any]]:
    for name in ("sources", "targets"):
        places = getattr(instruction, name)
        for number, place in enumerate(places):
            yield name, places, number, place


def _with(each: Instruction, name: str, places: tuple[Any, ...], number: int, *new: object) -> Instruction:
    changes: dict[str, Any] = {name: (*places[:number], *new, *places[number + 1 :])}
    return replace(each, **changes)


def wrong_offset(program: Program) -> Iterator[Program]:
    """A span begins one chunk further, or earlier at the end of its buffer."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        for name, places, number, place in _places(each):
            if isinstance(place, Span) and (span := _shifted(program, place)) is not None:
                yield _with(each, name, places, number, span)

    return _changed(program, change)


def _shifted(program: Program, span: Span) -> Span | None:
    size = buffer_chunks(program.ranks[span.rank], span.buffer)
    for offset in (span.offset + 1, span.offset - 1):
        if offset >= 0 and offset + span.count <= size:
            return replace(span, offset=offset)
    return None


def wrong_buffer(program: Program) -> Iterator[Program]:
    """A chunk is written to scratch instead of the output."""

    def change(_: int, each: Instruction) -> Iterator[Instruction]:
        for number, place in enumerate(each.targets):
            if not isinstance(place, Span) or place.buffer is not Buffer.OUTPUT:
                continue
            if place.offset + place.count <= program.ranks[place.rank].scratch_chunks:
                yield _with(each, "targets", each.targets, number, replace(place, buffer=Buffer.SCRATCH))

    return _changed(program, change)


def wrong_channel(program: Program) -> Iterator[Program]:
    """A message goes over another channel of the rank."""

    def change(rank: int, each: Instruction) -> Iterator[Instruction]:
        for number, place in enumerate(each.targets):
            if isinstance(place, Message):
                own = [key for key, channel in enumerate(program.channels) if channel.source == rank]
                for other in [key for key in own if key != place.channel][:1]:
                    yield _with(each, "targets", each.targets, number, replace(place, channel=other))

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
                yield _with(each, "sources", each.sources, number)
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
