"""A run of a program on symbolic data, with the order of all accesses: finds wrong data, races and unwritten memory.

One order of the instructions is enough. Whether two accesses are ordered is the same in every run (`clocks`). If all
accesses of a cell are ordered, every run does them in the same order and computes the same data. The components
of a program, which have nothing to do with each other, are executed one after the other (`components`).
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.programs.interpreter import symbols
from forestcoll.programs.interpreter.accesses import NO_ACTOR, Accesses
from forestcoll.programs.interpreter.clocks import Clocks, Row
from forestcoll.programs.interpreter.components import Component, components_of, whole
from forestcoll.programs.interpreter.order import Place, RunState
from forestcoll.programs.interpreter.symbols import MIXED, NOTHING, Patterns, Values, added
from forestcoll.programs.model import (
    Barrier,
    Buffer,
    ChannelKind,
    Instruction,
    Message,
    Multicast,
    Program,
    ProgramFault,
    Span,
    fault_at,
    instruction_name,
)
from forestcoll.programs.model import Place as DataPlace


class _Stop(Exception):  # noqa: N818 (it carries a fault; it is not an error itself)
    """The first fault of a run."""

    def __init__(self, fault: ProgramFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def fault_of_data(run: RunState) -> ProgramFault | None:
    """Return the first fault in the data of a run that came to its end; None if there is none."""
    components = components_of(run)
    if len(components) > 1 and fault_in_components(run, components) is None:
        return None
    return fault_in_components(run, [whole(run)])


def fault_in_components(run: RunState, components: Sequence[Component]) -> ProgramFault | None:
    """Return a fault in the data of a run, whose components are executed one after the other; None if there is none.

    With several components, a fault need not be the first one.
    """
    contents = _Contents(run)
    try:
        for component in components:
            execution = _Execution(run, component, contents)
            for place in component.order:
                execution.step(place)
            for rank in range(len(run.program.ranks)):
                if component is components[-1]:
                    execution.check_output(rank)
                execution.check_end(rank)
    except _Stop as stop:
        return stop.fault
    return None


@dataclass
class _BarrierState:
    """A barrier that some of its blocks have reached: their joined rows, and the actors."""

    row: Row
    actors: list[int] = field(default_factory=list)


class _Contents:
    """What all components of a run share: the data of all cells, and how many instructions depend on each."""

    def __init__(self, run: RunState) -> None:
        self.patterns = Patterns(len(run.program.ranks))
        self.data = Values.nothing(run.memory.size)
        for rank in range(len(run.program.ranks)):
            values = symbols.initial(run.program, rank, self.patterns)
            self.data.put(run.memory.cells(rank, Buffer.INPUT, 0, len(values.patterns)), values)
        self.needed = _needed(run.program)


class _Execution:
    """The state of a component of a run: data, clocks, accesses, and messages and signals in transit."""

    def __init__(self, run: RunState, component: Component, contents: _Contents) -> None:
        self.program, self.memory = run.program, run.memory
        self.clocks = Clocks(self.program, component)
        sizes = np.diff(self.memory.rank_starts)
        self.accesses = Accesses(self.clocks, np.repeat(np.arange(len(sizes)), sizes))
        self.patterns, self.data, self.needed = contents.patterns, contents.data, contents.needed
        self.messages: defaultdict[int, deque[tuple[Row, Values]]] = defaultdict(deque)
        self.signals: defaultdict[int, deque[tuple[Row, bool]]] = defaultdict(deque)
        self.heard = np.zeros((len(self.program.ranks), self.clocks.rows.shape[1]), dtype=self.clocks.dtype)
        self.switched = np.zeros(self.memory.size, dtype=np.bool_)
        self.packed = np.full(self.memory.size, NO_ACTOR, dtype=np.int64)
        self.packets: list[Row] = []
        self.kept: dict[Place, Row] = {}
        self.released: dict[tuple[int, int], list[tuple[int, Row]]] = {}
        self.acquired: dict[tuple[int, int], int] = {}
        self.meetings: dict[tuple[int, int], _BarrierState] = {}
        self.place: Place = (0, 0, 0)
        self.places: dict[tuple[int, int], Place] = {}

    def step(self, place: Place) -> None:
        """Do one instruction."""
        rank, block, number = self.place = place
        instruction = self.program.ranks[rank].blocks[block].instructions[number]
        actor = self.clocks.numbers[rank, block]
        self.clocks.begin(actor, meets=instruction.meets)
        self._wait(actor, rank, instruction)
        if instruction.barrier is not None:
            self._meet(actor, rank, instruction.barrier)
        if instruction.places:
            self._move(actor, instruction)
        self._signal_others(actor, rank, instruction)

    def _wait(self, actor: int, rank: int, instruction: Instruction) -> None:
        at_once = bool(instruction.places)
        for dependency in instruction.after:
            self.clocks.join(actor, self._row_of((rank, dependency.block, dependency.instruction)), at_once=True)
        for channel in instruction.waits:
            row, relaxed = self.signals[channel].popleft()
            if relaxed or instruction.relaxed:
                np.maximum(self.heard[rank], row, out=self.heard[rank])
                row[: self.clocks.first_start] = 0
            self.clocks.join(actor, row, at_once=at_once)
        for semaphore in instruction.acquires:
            self._acquire(actor, rank, semaphore, at_once=at_once)

    def _row_of(self, place: Place) -> Row:
        row = self.kept[place]
        self.needed[place] -= 1
        if not self.needed[place]:
            del self.kept[place]
        return row

    def _acquire(self, actor: int, rank: int, semaphore: int, *, at_once: bool) -> None:
        """Join the blocks that must have released before: with one releasing block its first ones, with several all."""
        key = rank, semaphore
        self.acquired[key] = self.acquired.get(key, 0) + 1
        needed = self.acquired[key] - self.program.ranks[rank].semaphores[semaphore]
        released = self.released.get(key, [])
        if needed <= 0:
            return
        if len({who for who, _ in released}) == 1:
            self.clocks.join(actor, released[needed - 1][1], at_once=at_once)
        elif needed == _releases(self.program, rank, semaphore):
            for _, row in released:
                self.clocks.join(actor, row, at_once=at_once)

    def _meet(self, actor: int, rank: int, barrier: Barrier) -> None:
        """Reach a barrier; the last actor to reach it gives all actors the joined row."""
        key = rank, barrier.number
        row = self.clocks.row_for_others(actor, done=True)
        meeting = self.meetings.setdefault(key, _BarrierState(row))
        np.maximum(meeting.row, row, out=meeting.row)
        meeting.actors.append(actor)
        if len(meeting.actors) == barrier.blocks:
            for other in meeting.actors:
                self.clocks.join(other, meeting.row, at_once=True)
                self.clocks.meet(other)
            del self.meetings[key]

    def _move(self, actor: int, instruction: Instruction) -> None:
        channel = instruction.channel
        if channel is not None and self.program.channels[channel].kind is ChannelKind.PORT:
            actor = self._helper_after(actor, channel)
        self.places[actor, self.clocks.ticks[actor]] = self.place
        values: Values | None = None
        for source in instruction.sources:
            for each in self._read(actor, source):
                values = each if values is None else added(self.patterns, values, each)
        if values is None or self._stays(instruction):
            return
        for target in instruction.targets:
            self._write(actor, target, values)

    def _stays(self, instruction: Instruction) -> bool:
        """Return whether the instruction copies chunks onto themselves, as may happen in place; it changes nothing."""
        if len(instruction.sources) > 1 or len(instruction.targets) > 1:
            return False
        source, target = instruction.sources[0], instruction.targets[0]
        if not isinstance(source, Span) or not isinstance(target, Span) or source.packets or target.packets:
            return False
        return self.memory.of_span(source) == self.memory.of_span(target)

    def _helper_after(self, actor: int, channel: int) -> int:
        """Order the helper of a PORT channel after all that is before `actor`, and return the helper."""
        helper = self.clocks.helpers[channel]
        self.clocks.begin(helper, meets=True)
        self.clocks.join(helper, self.clocks.row_for_others(actor, done=False), at_once=True)
        return helper

    def _read(self, actor: int, source: DataPlace) -> Iterator[Values]:
        if isinstance(source, Message):
            row, values = self.messages[source.channel].popleft()
            self.clocks.join(actor, row, at_once=True)
            yield values
            return
        for span in self._spans(source):
            cells = self.memory.of_span(span)
            if source.packets:
                for number in np.unique(self.packed[cells]).tolist():
                    self.clocks.join(actor, self.packets[number], at_once=True)
            elif (raced := self.accesses.reads(actor, cells)) is not None:
                self._stop_race("reads", *raced, read=False)
            values = self.data.at(cells)
            if values.hold_nothing():
                cell = cells.start + int(np.argmax(values.patterns == NOTHING))
                self._stop("unwritten-read", f"reads {self.memory.name(cell)}, which was not written before")
            yield values

    def _spans(self, place: Span | Multicast) -> Sequence[Span]:
        if isinstance(place, Span):
            return (place,)
        group = self.program.groups[place.group]
        return [Span(rank, place.buffer, place.offset, place.count, place.packets) for rank in group]

    def _write(self, actor: int, target: DataPlace, values: Values) -> None:
        if isinstance(target, Message):
            self.messages[target.channel].append((self.clocks.row_for_others(actor, done=True), values))
            return
        for span in self._spans(target):
            cells = self.memory.of_span(span)
            if not self.memory.in_place and span.buffer is Buffer.INPUT:
                message = f"writes {self.memory.name(cells.start)}; out of place, an input is only read"
                self._stop("input-overwritten", message)
            if target.packets:
                self._write_packets(actor, cells, values)
            elif (raced := self.accesses.writes(actor, cells)) is not None:
                self._stop_race("writes", *raced[:3], read=raced[3])
            self.data.put(cells, values)
            self.switched[cells] = isinstance(target, Multicast)

    def _write_packets(self, actor: int, cells: slice, values: Values) -> None:
        """Write packets, which need no order. Different packets must not go to one place: a reader could see either."""
        first = self.clocks.first_start
        held = self.data.at(cells)
        other_data = (held.patterns != values.patterns) | (held.indices != values.indices)
        again = np.flatnonzero((self.accesses.writers[cells] < first) & other_data)
        if len(again):
            cell = cells.start + int(again[0])
            place = self.places[int(self.accesses.writers[cell]), int(self.accesses.written[cell])]
            other = instruction_name(self.program, *place)
            self._stop("packet-twice", f"writes a packet to {self.memory.name(cell)}, and so does {other}")
        self.accesses.takes_over(actor, cells)
        self.packed[cells] = len(self.packets)
        self.packets.append(self._sent(actor, cells))

    def _sent(self, actor: int, cells: slice) -> Row:
        """Return the row that a reader of packets receives: what each thread did before it wrote its part of them.

        The row includes everything that this instruction does with these chunks, and what the threads did before. This
        assumes that the chunks are large enough for each thread to have a part.
        """
        row = self.clocks.row_for_others(actor, done=False)
        row[actor] = self.clocks.ticks[actor]
        row[self.clocks.start_of(self.memory.rank_of(cells.start))] = 1
        return row

    def _signal_others(self, actor: int, rank: int, instruction: Instruction) -> None:
        for channel in instruction.signals:
            if self.program.channels[channel].kind is ChannelKind.PORT:
                helper = self._helper_after(actor, channel)
                row = self.clocks.row_for_others(helper, done=True)
            else:
                row = self.clocks.row_for_others(actor, done=True)
            self.signals[channel].append((row, instruction.relaxed))
        for channel in instruction.flushes:
            row = self.clocks.row_for_others(self.clocks.helpers[channel], done=True)
            self.clocks.join(actor, row, at_once=bool(instruction.places))
        for semaphore in instruction.releases:
            row = self.clocks.row_for_others(actor, done=True)
            self.released.setdefault((rank, semaphore), []).append((actor, row))
        if self.place in self.needed:
            self.kept[self.place] = self.clocks.row_for_others(actor, done=True)

    def _stop(self, rule: str, message: str) -> None:
        raise _Stop(fault_at(rule, message, self.program, self.place))

    def _stop_race(self, does: str, cell: int, who: int, when: int, *, read: bool) -> None:
        name = self.memory.name(cell)
        if who >= self.clocks.first_start:
            rank = who - self.clocks.first_start
            self._stop("before-start", f"{does} {name} without waiting until rank {rank} has started")
        other = instruction_name(self.program, *self.places[who, when])
        what = "reads" if read else "writes"
        self._stop("race", f"{does} {name} while {other} {what} it; the order of the two is not defined")

    def check_output(self, rank: int) -> None:
        """Check the content of the output of a rank."""
        wanted = symbols.expected(self.program, rank, self.patterns)
        cells = self.memory.cells(rank, Buffer.OUTPUT, 0, len(wanted.patterns))
        held = self.data.at(cells)
        wrong = np.flatnonzero((held.patterns != wanted.patterns) | (held.indices != wanted.indices))
        if len(wrong):
            self._stop_wrong(rank, cells.start + int(wrong[0]), wanted, int(wrong[0]), len(wrong))

    def _stop_wrong(self, rank: int, cell: int, wanted: Values, place: int, count: int) -> None:
        pattern, index = int(self.data.patterns[cell]), int(self.data.indices[cell])
        holds = self.patterns.name(MIXED if pattern == MIXED else pattern, index)
        needs = self.patterns.name(int(wanted.patterns[place]), int(wanted.indices[place]))
        more = f" ({count - 1} more chunks of it are wrong)" if count > 1 else ""
        message = f"{self.memory.name(cell)} holds {holds} at the end; it must hold {needs}{more}"
        writer = int(self.accesses.writers[cell]), int(self.accesses.written[cell])
        if writer in self.places:
            raise _Stop(fault_at("wrong-data", f"wrote it last: {message}", self.program, self.places[writer]))
        raise _Stop(ProgramFault("wrong-data", message, rank))

    def check_end(self, rank: int) -> None:
        """Check that no access to the memory of a rank may happen after the rank has ended.

        A write by a switch is complete when the relaxed signal that was given after it arrives, and so is a read.
        """
        blocks = range(len(self.program.ranks[rank].blocks))
        actors = [self.clocks.numbers[rank, block] for block in blocks if (rank, block) in self.clocks.numbers]
        known = np.zeros(self.clocks.rows.shape[1], dtype=self.clocks.dtype)
        known[self.clocks.start_of(rank)] = 1
        for actor in actors:
            self.clocks.begin(actor, meets=True)
            np.maximum(known, self.clocks.rows[actor], out=known)
        heard = np.maximum(known, self.heard[rank])
        first, last = (int(each) for each in self.memory.rank_starts[rank : rank + 2])
        writers, written = self.accesses.writers[first:last], self.accesses.written[first:last]
        there = np.where(self.switched[first:last], heard[writers], known[writers])
        late = np.flatnonzero(there < written)
        if len(late):
            cell = first + int(late[0])
            place = self.places[int(self.accesses.writers[cell]), int(self.accesses.written[cell])]
            message = f"writes {self.memory.name(cell)}, and rank {rank} may end before this is done"
            raise _Stop(fault_at("after-end", message, self.program, place))
        if (read := self.accesses.late_read(heard, first, last)) is not None:
            cell, who, when = read
            message = f"reads {self.memory.name(cell)}, and rank {rank} may end before this is done"
            raise _Stop(fault_at("after-end", message, self.program, self.places[who, when]))


def _needed(program: Program) -> dict[Place, int]:
    """Return, for each instruction that others depend on, how many depend on it."""
    needed: dict[Place, int] = {}
    for rank, _, _, instruction in program.instructions():
        for dependency in instruction.after:
            place = rank, dependency.block, dependency.instruction
            needed[place] = needed.get(place, 0) + 1
    return needed


def _releases(program: Program, rank: int, semaphore: int) -> int:
    blocks = program.ranks[rank].blocks
    return sum(each.releases.count(semaphore) for block in blocks for each in block.instructions)
