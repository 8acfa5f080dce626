"""Converts a program into MSCCL XML."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.letters import LETTERS
from forestcoll.programs.formats.msccl_xml import document
from forestcoll.programs.formats.msccl_xml.dialects import MAX_VALUE_LENGTH, Dialect
from forestcoll.programs.formats.msccl_xml.document import NONE, Algorithm, Step, StepType, frozen_attributes
from forestcoll.programs.model import (
    Block,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Message,
    Place,
    Program,
    Span,
    instruction_name,
)

_LARGEST = 2**40
"""`maxBytes` for runtimes that require a number: 1 TiB, more than a GPU holds."""

_ONE_MESSAGE = {  # (receives, reads locally, writes locally, sends)
    (False, True, False, True): StepType.SEND,
    (True, False, True, False): StepType.RECEIVE,
    (True, False, True, True): StepType.RECEIVE_COPY_SEND,
    (True, True, False, True): StepType.RECEIVE_REDUCE_SEND,
    (True, True, True, False): StepType.RECEIVE_REDUCE_COPY,
    (True, True, True, True): StepType.RECEIVE_REDUCE_COPY_SEND,
    (False, True, True, False): StepType.COPY,
}


def from_program(program: Program, dialect: Dialect) -> Algorithm:
    """Return the algorithm for `program` in `dialect`.

    The limits of the dialect are not checked here, but by `rules.dialect_fault`.

    Raises:
        InputError: the format cannot express the program; the message names rank, block and step.
    """
    _check_expressible(program, dialect)
    numbers = [channel.number for channel in program.channels]
    return Algorithm(
        attributes=frozen_attributes(_attributes(program, dialect)),
        channels=max(numbers, default=0) + 1,
        chunks_per_loop=program.chunks,
        gpu_count=len(program.ranks),
        gpus=tuple(_gpu(program, rank) for rank in range(len(program.ranks))),
    )


def _attributes(program: Program, dialect: Dialect) -> dict[str, str]:
    in_place = program.in_place and not (dialect.one_place and program.out_of_place)
    return {
        "name": _name(program.name),
        "proto": program.protocol.value,
        "coll": dialect.spelling(program.task),
        "inplace": str(int(in_place)),
        "outofplace": str(int(program.out_of_place)),
        "minBytes": "0",
        "maxBytes": str(_LARGEST) if dialect.one_place else "0",
    }


def _name(text: str) -> str:
    """Return a name that the scanners of the runtimes can read: no quotes, no XML markup, not too long."""
    plain = "".join(letter if letter.isprintable() and letter not in "<>&\"'" else "_" for letter in text)
    return plain[: MAX_VALUE_LENGTH // 4]  # a character has at most four bytes


def _check_expressible(program: Program, dialect: Dialect) -> None:
    if len(set(program.shards)) > 1:
        raise InputError(
            f"MSCCL XML has shards of one size only; this {program.task.value} has some of {min(program.shards)} "
            f"and of {max(program.shards)} chunks"
        )
    for channel in program.channels:
        if channel.kind is not ChannelKind.FIFO:
            raise InputError(f"MSCCL XML has no {channel.kind.value} channels; lower the schedule for {dialect.name}")


def _gpu(program: Program, rank: int) -> document.Gpu:
    each = program.ranks[rank]
    drafts = [_Draft(program, rank, number) for number in range(len(each.blocks))]
    for draft in drafts:
        draft.write()
    for draft in drafts:
        draft.resolve(drafts)
    blocks = tuple(draft.block() for draft in drafts)
    return document.Gpu(rank, each.input_chunks, each.output_chunks, each.scratch_chunks, blocks)


@dataclass
class _Draft:
    """A block while it is being written: its steps, what they wait for, and which of them others wait for.

    An instruction may take several steps (a `nop` for each further dependency, a chain of `re`). `ends` gives, for each
    instruction, the step after which it is done, or -1 if neither it nor an earlier instruction has a step.
    """

    program: Program
    rank: int
    number: int
    steps: list[Step] = field(default_factory=list)
    waits: list[tuple[Dependency, ...]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    awaited: list[tuple[int, int]] = field(default_factory=list)
    marked: set[int] = field(default_factory=set)

    @property
    def _source(self) -> Block:
        return self.program.ranks[self.rank].blocks[self.number]

    def write(self) -> None:
        """Write all steps; their dependencies are still numbers of instructions, and are stored separately."""
        pending: tuple[Dependency, ...] = ()
        for place, instruction in enumerate(self._source.instructions):
            if instruction.after:
                pending += tuple(each for each in instruction.after if each not in pending)
            for step in self._steps(place, instruction):
                nops = max(len(pending) - 1, 0)
                self.steps += [_NOP] * nops + [step]
                self.waits += [(each,) for each in pending[:nops]] + [pending[nops:]]
                pending = ()
            self.ends.append(len(self.steps) - 1)

    def resolve(self, drafts: Sequence["_Draft"]) -> None:
        """Convert dependencies to blocks and steps, and mark the steps that others wait for."""
        for place, waits in enumerate(self.waits):
            found = NONE, NONE
            for each in waits:
                found = each.block, drafts[each.block].ends[each.instruction]
                if found[1] == NONE:
                    raise InputError(
                        f"{self._name(place)}: waits for a step that does nothing; lower it for this format"
                    )
                drafts[each.block].marked.add(found[1])
            self.awaited.append(found)

    def block(self) -> document.Block:
        """Return the block for the file."""
        send, receive, channel = self._connections()
        steps = tuple(
            Step(number, *step[1:7], *awaited, number in self.marked)
            for number, (step, awaited) in enumerate(zip(self.steps, self.awaited, strict=True))
        )
        return document.Block(self.number, send, receive, channel, steps)

    def _name(self, instruction: int) -> str:
        return instruction_name(self.program, self.rank, self.number, instruction)

    def _connections(self) -> tuple[int, int, int]:
        out = _channels(self.program, (i.targets for i in self._source.instructions))
        into = _channels(self.program, (i.sources for i in self._source.instructions))
        numbers = {channel.number for channel in (*out, *into)}
        if len(out) > 1 or len(into) > 1 or len(numbers) > 1:
            raise InputError(
                f"rank {self.rank}, block {self.number}: sends over {len(out)} channels and receives over {len(into)}; "
                "MSCCL XML has at most one of each, of one number"
            )
        send = out[0].target if out else NONE
        receive = into[0].source if into else NONE
        return send, receive, numbers.pop() if numbers else 0

    def _steps(self, place: int, instruction: Instruction) -> Iterable[Step]:
        if not instruction.sources and not instruction.targets:
            if instruction.waits or instruction.signals or instruction.barrier or instruction.acquires:
                raise InputError(f"{self._name(place)}: MSCCL XML has no signals, semaphores or barriers")
            return ()
        received, read = self._parts(place, instruction.sources)
        sent, written = self._parts(place, instruction.targets)
        if received > 1 or sent > 1 or len(written) > 1:
            raise InputError(f"{self._name(place)}: MSCCL XML has no step with as many sources and targets")
        if not received and not sent and len(read) > 1:
            return _sum(read, written[0])
        kind = _ONE_MESSAGE.get((bool(received), bool(read), bool(written), bool(sent)))
        if kind is None or len(read) > 1:
            raise InputError(f"{self._name(place)}: MSCCL XML has no step with these sources and targets")
        return (_step(kind, read[0] if read else None, written[0] if written else None, instruction.count),)

    def _parts(self, place: int, places: tuple[Place, ...]) -> tuple[int, list[Span]]:
        """Return the number of messages among `places`, and the spans."""
        spans = []
        for each in places:
            if isinstance(each, Message):
                continue
            if not isinstance(each, Span) or each.rank != self.rank or each.packets:
                raise InputError(f"{self._name(place)}: MSCCL XML reaches only a rank's own memory, without packets")
            spans.append(each)
        return len(places) - len(spans), spans


_NOP = Step(0, StepType.NOTHING, "i", NONE, "o", NONE, 0, NONE, NONE, awaited=False)


def _sum(read: list[Span], target: Span) -> Iterator[Step]:
    """Yield the steps that add up several spans of the memory of a rank: `re` adds a source to its target."""
    if target not in read:
        yield _step(StepType.COPY, read[0], target, target.count)
        read = [target, *read[1:]]
    others = list(read)
    others.remove(target)
    for each in others:
        yield _step(StepType.REDUCE, each, target, target.count)


def _step(kind: StepType, source: Span | None, target: Span | None, count: int) -> Step:
    read = ("i", 0) if source is None else (LETTERS[source.buffer], source.offset)
    written = ("o", 0) if target is None else (LETTERS[target.buffer], target.offset)
    return Step(0, kind, *read, *written, count, NONE, NONE, awaited=False)


def _channels(program: Program, places: Iterator[tuple[Place, ...]]) -> list[Channel]:
    """Return the channels of the messages among `places`, without repetition."""
    numbers = {each.channel for listed in places for each in listed if isinstance(each, Message)}
    return [program.channels[number] for number in sorted(numbers)]
