"""The fast path of the interpreter: compiled code proves that a program is right, or proves nothing.

The compiled code (`native/interpret`) shares no code with what makes programs. It decides only whether the program is
well formed, comes to its end and computes the right data, for programs of messages between ranks, and for programs
whose ranks write into the memory of others and signal. If nothing is proven, the interpreter in Python decides, and
describes the first fault.

A semaphore that begins with 0 and that one block releases is a row of dependencies: its k-th acquisition waits for the
instruction with its k-th release. An instruction that moves nothing knows what it acquired only after the next meeting,
and a dependency is known at once. So it is a dependency only if the difference cannot be seen.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.programs.interpreter import symbols
from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.model import (
    Block,
    Buffer,
    ChannelKind,
    Dependency,
    Instruction,
    Message,
    Place,
    Program,
    Rank,
    Span,
    Task,
)
from forestcoll.programs.model.validation import buffer_faults, outline_faults, wrong_loop

if TYPE_CHECKING:
    from forestcoll.schedule import _schedules

_BUFFERS = {Buffer.INPUT: 0, Buffer.OUTPUT: 1, Buffer.SCRATCH: 2}
_KINDS = {ChannelKind.FIFO: 0, ChannelKind.MEMORY: 1, ChannelKind.PORT: 2}
_LARGEST = 2**30
"""More than the numbers of a program that the compiled code takes."""


class _UnusualError(Exception):
    """The compiled code does not take the program."""


@dataclass(frozen=True)
class Compiled:
    """A program as the compiled code takes it.

    Attributes:
        whole: the program.
        outline: the program without its blocks.
        program: the instructions.
        instructions: the number of instructions.
        messages: the number of instructions that send a message.
    """

    whole: Program
    outline: Program
    program: "_schedules.Program"
    instructions: int
    messages: int

    @staticmethod
    def of(program: Program) -> "Compiled | None":
        """Return `program` as the compiled code takes it, reading its ranks once; None if it is unusual or wrong."""
        from forestcoll.schedule._schedules import Program as CompiledProgram

        if next(outline_faults(program), None) is not None:
            return None
        words = _Words()
        try:
            outlines = [words.rank(program, number, rank) for number, rank in enumerate(program.ranks)]
            sizes = [size for each in outlines for size in (each.input_chunks, each.output_chunks, each.scratch_chunks)]
            channels = [number for each in program.channels for number in (_KINDS[each.kind], each.source, each.target)]
            compiled = CompiledProgram(
                _frozen(words.words),
                _frozen(words.block_ranks),
                _frozen(words.block_lengths),
                np.array(sizes, dtype=np.int32),
                np.array(channels, dtype=np.int32),
                min(program.slots or 0, _LARGEST),
                min(program.slot_chunks, _LARGEST),
            )
        except (_UnusualError, OverflowError):
            return None
        outline = replace(program, ranks=tuple(outlines))
        return Compiled(program, outline, compiled, sum(words.block_lengths), words.messages)

    def is_right(self) -> bool:
        """Return whether the program is proven to be right, in place and out of place as it says."""
        placements = [place for place in (True, False) if self._is_for(in_place=place)]
        return self.program.is_well_formed() and all(
            self._is_proven(in_place=place) or (place and self._is_proven_apart()) for place in placements
        )

    def _is_proven_apart(self) -> bool:
        """Return whether an allreduce in place is proven to be right by a run out of place.

        The runs differ only where the result of a chunk is written over the input. So each chunk of an input must be
        read once, and an output written once: this result has the contribution of its rank, so the read is before it.
        The instruction that reads the input may also write the output, and later ones of its block may write it again.
        """
        if self.outline.task is not Task.ALLREDUCE or not self._is_proven(in_place=False):
            return False
        shape = len(self.outline.ranks), self.outline.chunks
        read, written, summed = (np.zeros(shape, dtype=np.int32) for _ in range(3))
        blocks: dict[tuple[int, int], int] = {}
        for rank, block, _, each in self.whole.instructions():
            number = blocks.setdefault((rank, block), len(blocks) + 1)
            own = [_cells(place) for place in each.sources if isinstance(place, Span) and place.buffer is Buffer.INPUT]
            for cells in own:
                read[cells] += 1
            for place in each.targets:
                if isinstance(place, Span) and place.buffer is Buffer.OUTPUT:
                    cells = _cells(place)
                    written[cells] += summed[cells] != number
                    if cells in own:
                        summed[cells] = number
        return bool(read.max() <= 1 and written.max() <= 1)

    def _is_for(self, *, in_place: bool) -> bool:
        return self.outline.in_place if in_place else self.outline.out_of_place

    def _is_proven(self, *, in_place: bool) -> bool:
        memory, sets = Memory.of(self.outline, in_place=in_place), _Sets(len(self.outline.ranks))
        first_sets = np.zeros(memory.size, dtype=np.int32)
        first_chunks = np.full(memory.size, -1, dtype=np.int32)
        cells, last = [], []
        for rank in range(len(self.outline.ranks)):
            values = symbols.initial(self.outline, rank, sets)
            at = memory.cells(rank, Buffer.INPUT, 0, len(values.patterns))
            first_sets[at], first_chunks[at] = values.patterns, values.indices
            wanted = symbols.expected(self.outline, rank, sets)
            at = memory.cells(rank, Buffer.OUTPUT, 0, len(wanted.patterns))
            cells.append(np.arange(at.start, at.stop))
            last.append((wanted.patterns.astype(np.int32), wanted.indices.astype(np.int32)))
        return self.program.is_proven(
            self.outline.task.reduces,
            in_place,
            np.array([each[buffer] for each in memory.starts for buffer in _BUFFERS], dtype=np.int64),
            memory.rank_starts[1:].astype(np.int64),
            first_sets,
            first_chunks,
            np.concatenate(cells),
            np.concatenate([patterns for patterns, _ in last]),
            np.concatenate([indices for _, indices in last]),
        )


def _cells(span: Span) -> tuple[int, slice]:
    """Return the rank and the chunks of a span."""
    return span.rank, slice(span.offset, span.offset + span.count)


class _Sets:
    """The numbers of sets of ranks in the compiled code: 1 + r for one rank r, and a number for all ranks."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks

    def of(self, *ranks: int) -> int:
        """Return the number of the set of one rank."""
        (rank,) = ranks
        return 1 + rank

    def all(self) -> int:
        """Return the number of the set of all ranks."""
        return 1 + self._ranks


def _may_read_late(program: Program, rank: int, block: Block) -> bool:
    """Return whether a block may read memory after the end of the rank that owns it, which compiled code does not see.

    This is so if it reads the memory of another rank, or leaves work to the helper of a PORT channel at its end.
    """
    left: set[int] = set()
    for each in block.instructions:
        if any(isinstance(source, Span) and source.rank != rank for source in each.sources):
            return True
        if each.channel is not None and program.channels[each.channel].kind is ChannelKind.PORT:
            left.add(each.channel)
        left.difference_update(each.flushes)
    return bool(left)


class _Words:
    """The instructions of all blocks as words, in the form of `native/interpreter/program.h`."""

    def __init__(self) -> None:
        self.words, self.block_ranks, self.block_lengths = array("i"), array("i"), array("i")
        self.messages = 0

    def rank(self, program: Program, number: int, rank: Rank) -> Rank:
        """Add the blocks of a rank, and return the rank without them."""
        if next(buffer_faults(program, number, rank), None) is not None or any(rank.semaphores):
            raise _UnusualError
        if program.slots is None and any(_may_read_late(program, number, block) for block in rank.blocks):
            raise _UnusualError
        released = _released(rank)
        for block in rank.blocks:
            self._block(number, block, released)
        return replace(rank, blocks=())

    def _block(self, rank: int, block: Block, released: Sequence[Iterator[Dependency]]) -> None:
        if block.loops and wrong_loop(block) is not None:
            raise _UnusualError
        self.block_ranks.append(rank)
        self.block_lengths.append(len(block.instructions))
        for instruction in _with_dependencies(block.instructions, released):
            self._instruction(instruction)

    def _instruction(self, each: Instruction) -> None:
        if each.barrier is not None:
            raise _UnusualError
        sources, targets, after = each.sources, each.targets, each.after
        waits, signals, flushes = each.waits, each.signals, each.flushes
        channel = -1 if each.channel is None else each.channel
        flags = each.relaxed + 2 * each.meets
        words = [flags, channel, len(sources), len(targets), len(after), len(waits), len(signals), len(flushes)]
        for place in sources:
            words += _place(place)
        for place in targets:
            words += _place(place)
            self.messages += type(place) is Message
        for dependency in after:
            words += dependency.block, dependency.instruction
        self.words.extend([*words, *waits, *signals, *flushes] if waits or signals or flushes else words)


def _released(rank: Rank) -> list[Iterator[Dependency]]:
    """Return, for each semaphore, the instructions that release it, in their order: all of them are of one block."""
    released: list[list[Dependency]] = [[] for _ in rank.semaphores]
    for number, block in enumerate(rank.blocks):
        for place, instruction in enumerate(block.instructions):
            for semaphore in instruction.releases:
                if not 0 <= semaphore < len(released):
                    raise _UnusualError
                released[semaphore].append(Dependency(number, place))
    if any(len({each.block for each in listed}) > 1 for listed in released):
        raise _UnusualError
    return [iter(listed) for listed in released]


def _with_dependencies(
    listed: Sequence[Instruction], released: Sequence[Iterator[Dependency]]
) -> Iterator[Instruction]:
    """Yield the instructions of a block, which depend on the releases that they acquire.

    The program is well formed, so one block acquires a semaphore.
    """
    for place, each in enumerate(listed):
        if not each.acquires:
            yield each
            continue
        meets = place + 1 == len(listed) or listed[place + 1].meets
        if not each.places and (each.signals or each.releases or not meets):
            raise _UnusualError
        if not all(0 <= semaphore < len(released) for semaphore in each.acquires):
            raise _UnusualError
        found = [one for semaphore in each.acquires if (one := next(released[semaphore], None)) is not None]
        if len(found) < len(each.acquires):
            raise _UnusualError
        yield replace(each, after=(*each.after, *found))


def _place(place: Place) -> tuple[int, int, int, int]:
    if type(place) is Message:
        return -1, place.channel, 0, place.count
    if type(place) is not Span or place.packets or place.rank < 0:
        raise _UnusualError
    return place.rank, _BUFFERS[place.buffer], place.offset, place.count


def _frozen(words: "array[int]") -> npt.NDArray[np.int32]:
    return np.frombuffer(words, dtype=np.int32) if words else np.zeros(0, dtype=np.int32)
