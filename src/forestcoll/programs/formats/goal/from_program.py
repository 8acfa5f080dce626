"""Converts a program over FIFO channels into a GOAL schedule.

An instruction that receives and sends becomes a receive, a computation if it adds or copies, and then a send. What is
received only to be added or sent on gets a place of its own in scratch memory. The receives and computations of a block
are done in order, and so are its sends. A send does not delay the next receive of the block, because FIFO channels
buffer messages. Every message has its own tag. Computations take no time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.goal.document import Data, Goal, Header, Operation, OperationKind
from forestcoll.programs.formats.sizes import require_bytes
from forestcoll.programs.model import Buffer, Dependency, Instruction, Message, Program, Span, instruction_name


def from_program(program: Program, size: int) -> Goal:
    """Return the schedule of `program` for data of `size` bytes.

    Raises:
        InputError: the program does more than send, receive, add and copy, or chunks are smaller than a byte.
    """
    require_bytes(program, size)
    header = Header(program.name, program.task.value, size, program.chunks, program.shards, program.root)
    sent, received = _tags(program), _tags(program)
    writers = [_Writer(program, header, rank, sent, received) for rank in range(len(program.ranks))]
    return Goal(tuple(writer.operations() for writer in writers), header)


def _tags(program: Program) -> tuple["count[int]", ...]:
    """Return, for each channel, the tags of its messages; all tags of a program are different."""
    counts = [0] * len(program.channels)
    for *_, instruction in program.instructions():
        for place in instruction.targets:
            if isinstance(place, Message):
                counts[place.channel] += 1
    return tuple(count(end - number) for end, number in zip(accumulate(counts), counts, strict=True))


@dataclass
class _Chains:
    """The last operations of a block: of its receives and computations, and of its sends."""

    data: tuple[int, ...] = ()
    sent: tuple[int, ...] = ()


@dataclass
class _Writer:
    """The operations of one rank while they are being written."""

    program: Program
    header: Header
    rank: int
    sent_tags: Sequence["count[int]"]
    received_tags: Sequence["count[int]"]
    written: list[Operation] = field(default_factory=list)
    waits: dict[int, tuple[Dependency, ...]] = field(default_factory=dict)
    ends: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scratch = self.program.ranks[self.rank].scratch_chunks

    def operations(self) -> tuple[Operation, ...]:
        """Return all operations, with their dependencies on other blocks."""
        for number, block in enumerate(self.program.ranks[self.rank].blocks):
            self._block(number, block.instructions)
        for place, waits in self.waits.items():
            operation = self.written[place]
            others = (end for each in waits for end in self.ends[each.block, each.instruction])
            self.written[place] = operation._replace(after=tuple(dict.fromkeys((*operation.after, *others))))
        return tuple(self.written)

    def _block(self, number: int, instructions: Sequence[Instruction]) -> None:
        chains = _Chains()
        pending: tuple[Dependency, ...] = ()
        for place, instruction in enumerate(instructions):
            self._check(number, place, instruction)
            first = len(self.written)
            pending += instruction.after
            self._instruction(instruction, chains)
            if len(self.written) > first:
                self.waits[first], pending = pending, ()
            self.ends[number, place] = (*chains.data, *chains.sent)

    def _check(self, block: int, place: int, instruction: Instruction) -> None:
        others = instruction.waits or instruction.signals or instruction.acquires
        if others or instruction.barrier is not None:
            where = instruction_name(self.program, self.rank, block, place)
            raise InputError(f"{where}: GOAL has messages only; lower the schedule two-sided")

    def _instruction(self, instruction: Instruction, chains: _Chains) -> None:
        kept = tuple(each for each in instruction.targets if isinstance(each, Span))
        sources = [each for each in instruction.sources if isinstance(each, Span)]
        received = [each for each in instruction.sources if isinstance(each, Message)]
        whole = len(instruction.sources) == 1
        for message in received:
            targets = kept if kept and whole else (self._place(message.count),)
            sources.append(targets[0])
            self._receive(message, targets, chains)
        if sources and not (received and whole) and (kept or not whole):
            kept = kept or (sources[-1],)
            chains.data = (
                self._write(Operation(OperationKind.COMPUTE, 0, data=Data(tuple(sources), kept)), chains.data),
            )
            sources = sources if whole else [kept[0]]
        for target in instruction.targets:
            if isinstance(target, Message):
                self._send(target, sources[0], chains)

    def _place(self, chunks: int) -> Span:
        """Return a span of scratch memory that nothing else uses."""
        self.scratch += chunks
        return Span(self.rank, Buffer.SCRATCH, self.scratch - chunks, chunks)

    def _receive(self, message: Message, targets: tuple[Span, ...], chains: _Chains) -> None:
        peer, tag = self.program.channels[message.channel].source, next(self.received_tags[message.channel])
        size = self.header.bytes_of(message.count)
        operation = Operation(OperationKind.RECEIVE, size, peer, tag, data=Data((), targets))
        chains.data = (self._write(operation, chains.data),)

    def _send(self, message: Message, source: Span, chains: _Chains) -> None:
        peer, tag = self.program.channels[message.channel].target, next(self.sent_tags[message.channel])
        size = self.header.bytes_of(message.count)
        operation = Operation(OperationKind.SEND, size, peer, tag, data=Data((source,), ()))
        chains.sent = (self._write(operation, (*chains.data, *chains.sent)),)

    def _write(self, operation: Operation, after: tuple[int, ...]) -> int:
        self.written.append(operation._replace(after=after))
        return len(self.written) - 1
