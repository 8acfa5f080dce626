"""A fast proof of the data of programs whose ranks access only their own memory and exchange messages.

`execution` orders all accesses by clocks over all blocks of all ranks, whose work grows with the square of the ranks.
If each rank accesses only its own memory, the order of the blocks of that rank is nearly always enough, so that the
work is nearly linear in the number of instructions. An access is *known* to be before another one of the same rank if

- they are in one block, in this order, or a chain of dependencies between blocks of the rank leads from one to the
  other; or
- the later one receives a sum with the contribution of its own rank, and the earlier one is known to be before the
  rank first sent this contribution: a contribution that comes back has been sent before. If the rank sent it several
  times, all later times must be known to be after the first one.

Both are orders of every run. So a program is right if all accesses of a cell are known to be ordered, and the outputs
hold the right sums. Otherwise nothing is proven here, and `execution` decides and reports the fault.
"""

from collections import deque
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from forestcoll.programs.interpreter import symbols
from forestcoll.programs.interpreter.order import Place, Run
from forestcoll.programs.model import Buffer, Instruction, Message, Program, Span

_Known: TypeAlias = Mapping[int, int]
"""For blocks of one rank, by their numbers in the run: the last instruction that is known to be done."""

_NONE: _Known = {}


class _NotProvenError(Exception):
    """The program is wrong, or needs the general execution."""


def is_proven(run: Run) -> bool:
    """Return whether the data of a run that came to its end is proven to be right; if not, nothing is known."""
    if not run.is_plain:
        return False
    execution = _Execution(run)
    try:
        for place in run.order:
            execution.step(place)
        execution.end()
    except _NotProvenError:
        return False
    return True


class _Sets:
    """Sets of ranks as bits, by number; equal sets have one number, and number 0 is nothing."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self.bits: list[int] = [0]
        self._numbers: dict[int, int] = {}
        self._sums: dict[tuple[int, int], int] = {}

    def _number(self, bits: int) -> int:
        if bits not in self._numbers:
            self._numbers[bits] = len(self.bits)
            self.bits.append(bits)
        return self._numbers[bits]

    def of(self, *ranks: int) -> int:
        """Return the number of the set of these ranks."""
        return self._number(sum(1 << rank for rank in ranks))

    def all(self) -> int:
        """Return the number of the set of all ranks."""
        return self._number((1 << self._ranks) - 1)

    def sum(self, one: int, two: int) -> int:
        """Return the number of the union of two sets without a common rank."""
        key = one, two
        if key not in self._sums:
            if self.bits[one] & self.bits[two]:
                raise _NotProvenError
            self._sums[key] = self._number(self.bits[one] | self.bits[two])
        return self._sums[key]


class _Execution:
    """The state of a run. The value of a cell is the number of a set of ranks, and the number of a chunk."""

    def __init__(self, run: Run) -> None:
        self.run, self.program, self.memory = run, run.program, run.memory
        self.reduces = self.program.task.reduces
        self.sets = _Sets(len(self.program.ranks))
        self.width = _most_chunks(self.program)
        self.cells = [0] * self.memory.size
        for rank in range(len(self.program.ranks)):
            values = symbols.initial(self.program, rank, self.sets)
            at = self.memory.cells(rank, Buffer.INPUT, 0, len(values.patterns))
            self.cells[at] = (values.patterns * self.width + values.indices).tolist()
        self.writers: dict[int, tuple[int, int]] = {}
        self.readers: dict[int, dict[int, int]] = {}
        self.messages: list[deque[list[int]]] = [deque() for _ in self.program.channels]
        self.known: list[_Known] = [_NONE] * len(run.blocks)
        self.kept: dict[tuple[int, int], _Known] = dict.fromkeys(run.awaited, _NONE)
        self.sent: dict[tuple[int, int], tuple[int, int, _Known] | None] = {}

    def step(self, place: Place) -> None:
        """Do one instruction."""
        rank, number, tick = place
        block = self.run.number[rank, number]
        instruction = self.run.lists[block][tick]
        if instruction.after:
            self._wait(block, rank, instruction)
        if instruction.sources and not self._stays(instruction):
            self._move(rank, block, tick, instruction)
        if (block, tick) in self.kept:
            self.kept[block, tick] = self.known[block]

    def _wait(self, block: int, rank: int, instruction: Instruction) -> None:
        known = dict(self.known[block])
        for dependency in instruction.after:
            other = self.run.number[rank, dependency.block]
            _join(known, {**self.kept[other, dependency.instruction], other: dependency.instruction})
        self.known[block] = known

    def _stays(self, instruction: Instruction) -> bool:
        """Return whether the instruction copies chunks onto themselves, as may happen in place; it changes nothing."""
        if len(instruction.sources) > 1 or len(instruction.targets) > 1:
            return False
        source, target = instruction.sources[0], instruction.targets[0]
        if not isinstance(source, Span) or not isinstance(target, Span):
            return False
        return self.memory.of_span(source) == self.memory.of_span(target)

    def _move(self, rank: int, block: int, tick: int, instruction: Instruction) -> None:
        values: list[int] | None = None
        received: list[int] = []
        for source in instruction.sources:
            if isinstance(source, Message):
                read = received = self.messages[source.channel].popleft()
            else:
                read = self._read(block, tick, source)
            values = read if values is None else list(map(self._added, values, read))
        for target in instruction.targets:
            if isinstance(target, Message):
                self._send(rank, block, tick, target, values or [])
            elif isinstance(target, Span):
                self._write(block, tick, target, values or [], received)

    def _read(self, block: int, tick: int, source: object) -> list[int]:
        if not isinstance(source, Span):
            raise _NotProvenError
        cells, known = self.memory.of_span(source), self.known[block]
        for cell in range(cells.start, cells.stop):
            writer = self.writers.get(cell)
            if writer is not None and writer[0] != block and known.get(writer[0], -1) < writer[1]:
                raise _NotProvenError
            readers = self.readers.get(cell)
            if readers is None:
                self.readers[cell] = {block: tick}
            else:
                readers[block] = tick
        values = self.cells[cells]
        if 0 in values:
            raise _NotProvenError
        return values

    def _added(self, one: int, two: int) -> int:
        (first, index), (second, other) = divmod(one, self.width), divmod(two, self.width)
        if index != other:
            raise _NotProvenError
        return self.sets.sum(first, second) * self.width + index

    def _send(self, rank: int, block: int, tick: int, target: Message, values: list[int]) -> None:
        self.messages[target.channel].append(values)
        if self.reduces:
            for value in values:
                number, index = divmod(value, self.width)
                if self.sets.bits[number] >> rank & 1:
                    self._note_sent((rank, index), block, tick)

    def _note_sent(self, contribution: tuple[int, int], block: int, tick: int) -> None:
        """Note that a rank sends its contribution to a chunk; keep the first time, or None if the order is unknown."""
        known = self.known[block]
        first = self.sent.setdefault(contribution, (block, tick, known))
        if first is not None and not _is_before(first[0], first[1], block, known):
            self.sent[contribution] = None

    def _write(self, block: int, tick: int, span: Span, values: list[int], received: list[int]) -> None:
        if span.buffer is Buffer.INPUT and not self.memory.in_place:
            raise _NotProvenError
        cells = self.memory.of_span(span)
        for cell in range(cells.start, cells.stop):
            readers, writer = self.readers.pop(cell, None), self.writers.get(cell)
            before = [] if readers is None else list(readers.items())
            if writer is not None:
                before.append(writer)
            if before and not all(_is_before(*each, block, self.known[block]) for each in before):
                self._check_returned(span.rank, block, before, received[cell - cells.start : cell - cells.start + 1])
            self.writers[cell] = block, tick
        self.cells[cells] = values

    def _check_returned(self, rank: int, block: int, before: list[tuple[int, int]], received: list[int]) -> None:
        """Check that accesses were before the rank sent the contribution that it now receives in a sum."""
        if not received:
            raise _NotProvenError
        number, index = divmod(received[0], self.width)
        sent = self.sent.get((rank, index))
        if sent is None or not self.sets.bits[number] >> rank & 1:
            raise _NotProvenError
        known = dict(self.known[block])
        _join(known, {**sent[2], sent[0]: sent[1]})
        if not all(_is_before(*each, block, known) for each in before):
            raise _NotProvenError

    def end(self) -> None:
        """Check the content of the outputs."""
        for rank in range(len(self.program.ranks)):
            wanted = symbols.expected(self.program, rank, self.sets)
            cells = self.memory.cells(rank, Buffer.OUTPUT, 0, len(wanted.patterns))
            if not np.array_equal(wanted.patterns * self.width + wanted.indices, self.cells[cells]):
                raise _NotProvenError


def _most_chunks(program: Program) -> int:
    """Return more than the number of any chunk of the data."""
    sizes = sum(rank.input_chunks for rank in program.ranks)
    return 1 + max(sizes, program.chunks * len(program.ranks))


def _join(known: dict[int, int], other: _Known) -> None:
    for block, tick in other.items():
        if tick > known.get(block, -1):
            known[block] = tick


def _is_before(one: int, tick: int, block: int, known: _Known) -> bool:
    """Return whether instruction `tick` of block `one` is known to be before the present instruction of `block`."""
    return one == block or known.get(one, -1) >= tick
