"""An order in which a program runs to its end, or the point where it stops; it does not depend on the speed of ranks.

Every instruction waits for things that stay present until the instruction takes them, and that no other block can take.
(The program is well formed: each end of a channel belongs to one block, and one block acquires each semaphore.) So an
instruction that can be done stays possible until it is done, and any two orders can be completed to a common one. If
one order comes to the end, all do; if one stops, all stop at the same instructions. So it is enough to try one order.

Messages move piece by piece. A piece has as many chunks as fit a slot, or the rest. A FIFO channel holds a limited
number of pieces: a sender waits for a free slot, a receiver for a piece, and an instruction that receives and sends
does both for each piece in turn. If chunks are smaller than a slot, fewer waits are needed. So a program that comes to
its end here also comes to its end with smaller chunks.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from forestcoll.programs.interpreter.memory import Memory
from forestcoll.programs.model import Barrier, Instruction, Message, Multicast, Program, Span
from forestcoll.programs.model import Place as DataPlace

Place: TypeAlias = tuple[int, int, int]
"""The numbers of a rank, a block and an instruction."""
Need: TypeAlias = tuple[str, int, int, int]
"""The event that a block waits for: its kind, and three numbers, -1 if unused.

`step`: rank, block, instruction; `signal`, `chunks` or `room`: channel; `semaphore` or `barrier`: rank, number;
`packets`: rank.
"""


@dataclass
class ChannelContents:
    """The contents of a channel: pieces of messages, or signals, that were sent and not yet received."""

    pieces: int = 0
    signals: int = 0


@dataclass
class RunState:
    """The state of a run. Blocks are numbered over all ranks.

    Attributes:
        program: the program that is run.
        memory: the memory that it runs on.
        blocks: for each block, its rank and its number in that rank.
        number: the inverse of `blocks`.
        lists: the instructions of each block.
        done: for each block, the number of instructions that are done.
        moved: for each block, the number of pieces that its next instruction has moved.
        order: all instructions that are done, in order.
    """

    program: Program
    memory: Memory
    blocks: list[tuple[int, int]] = field(default_factory=list)
    order: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        ranks = self.program.ranks
        self.blocks = [(rank, block) for rank, each in enumerate(ranks) for block in range(len(each.blocks))]
        self.number = {place: number for number, place in enumerate(self.blocks)}
        self.lists = [ranks[rank].blocks[block].instructions for rank, block in self.blocks]
        count = len(self.blocks)
        self.done, self.moved = [0] * count, [0] * count
        self.ready, self.queued = deque(range(count)), [True] * count
        self.sleepers: dict[Need, list[int]] = {}
        self.channels = [ChannelContents() for _ in self.program.channels]
        self.semaphores = [list(rank.semaphores) for rank in ranks]
        self.packets = np.zeros(self.memory.size, dtype=np.bool_)
        self.met: dict[tuple[int, int], list[int]] = {}

    @property
    def stuck(self) -> list[int]:
        """Return the blocks that are not done."""
        return [block for block, listed in enumerate(self.lists) if self.done[block] < len(listed)]


def run_to_the_end(program: Program, memory: Memory) -> RunState:
    """Run until nothing more can be done, and return the state: all blocks are done, or some are `stuck`."""
    run = RunState(program, memory)
    while run.ready:
        block = run.ready.popleft()
        run.queued[block] = False
        _advance(run, block)
    return run


def _advance(run: RunState, block: int) -> None:
    """Do as many instructions of `block` as possible."""
    listed = run.lists[block]
    while run.done[block] < len(listed):
        instruction = listed[run.done[block]]
        need = None if run.moved[block] else need_of(run, block, instruction)
        if need is None:
            need = _move(run, block, instruction)
        if need is not None:
            _sleep(run, block, need)
            return
        _finish(run, block, instruction)


def _sleep(run: RunState, block: int, need: Need) -> None:
    run.sleepers.setdefault(need, []).append(block)


def _wake(run: RunState, need: Need) -> None:
    for block in run.sleepers.pop(need, ()):
        if not run.queued[block]:
            run.queued[block] = True
            run.ready.append(block)


def need_of(run: RunState, block: int, instruction: Instruction) -> Need | None:
    """Return what the next instruction of `block` still waits for before it can begin, or None."""
    rank = run.blocks[block][0]
    for dependency in instruction.after:
        if run.done[run.number[rank, dependency.block]] <= dependency.instruction:
            return "step", rank, dependency.block, dependency.instruction
    for channel in instruction.waits:
        if run.channels[channel].signals < instruction.waits.count(channel):
            return "signal", channel, -1, -1
    for semaphore in instruction.acquires:
        if run.semaphores[rank][semaphore] < instruction.acquires.count(semaphore):
            return "semaphore", rank, semaphore, -1
    for span in instruction.sources:
        if isinstance(span, Span) and span.packets and not run.packets[run.memory.of_span(span)].all():
            return "packets", span.rank, -1, -1
    return None if instruction.barrier is None else _meet(run, block, rank, instruction.barrier)


def _meet(run: RunState, block: int, rank: int, barrier: Barrier) -> Need | None:
    """Reach a barrier. The last block to reach it releases all; return what `block` waits for if it is not the last."""
    met = run.met.setdefault((rank, barrier.number), [])
    need = ("barrier", rank, barrier.number, -1)
    if block not in met and len(met) + 1 < barrier.blocks:
        met.append(block)
    if block in met:
        return need
    for other in met:
        _finish(run, other, run.lists[other][run.done[other]])
    met.clear()
    _wake(run, need)
    return None


def _move(run: RunState, block: int, instruction: Instruction) -> Need | None:
    """Move as many pieces of the messages of an instruction as possible; return what is missing, None if all moved."""
    incoming, outgoing = _message(instruction.sources), _message(instruction.targets)
    if incoming is None and outgoing is None:
        return None
    pieces = -(-instruction.count // run.program.slot_chunks)
    steps, need = pieces - run.moved[block], None
    if incoming is not None and run.channels[incoming.channel].pieces < steps:
        steps, need = run.channels[incoming.channel].pieces, ("chunks", incoming.channel, -1, -1)
    slots = run.program.slots
    if outgoing is not None and slots is not None and slots - run.channels[outgoing.channel].pieces < steps:
        steps, need = slots - run.channels[outgoing.channel].pieces, ("room", outgoing.channel, -1, -1)
    run.moved[block] += steps
    if incoming is not None and steps:
        run.channels[incoming.channel].pieces -= steps
        _wake(run, ("room", incoming.channel, -1, -1))
    if outgoing is not None and steps:
        run.channels[outgoing.channel].pieces += steps
        _wake(run, ("chunks", outgoing.channel, -1, -1))
    return need


def _message(places: Sequence[DataPlace]) -> Message | None:
    for place in places:
        if isinstance(place, Message):
            return place
    return None


def _packets_written(run: RunState, instruction: Instruction) -> Iterator[Span]:
    for place in instruction.targets:
        if isinstance(place, Span) and place.packets:
            yield place
        elif isinstance(place, Multicast) and place.packets:
            for rank in run.program.groups[place.group]:
                yield Span(rank, place.buffer, place.offset, place.count, packets=True)


def _finish(run: RunState, block: int, instruction: Instruction) -> None:
    rank, number = run.blocks[block]
    done = run.done[block]
    run.order.append((rank, number, done))
    run.done[block], run.moved[block] = done + 1, 0
    _wake(run, ("step", rank, number, done))
    for channel in instruction.waits:
        run.channels[channel].signals -= 1
    for semaphore in instruction.acquires:
        run.semaphores[rank][semaphore] -= 1
    for span in _packets_written(run, instruction):
        run.packets[run.memory.of_span(span)] = True
        _wake(run, ("packets", span.rank, -1, -1))
    for channel in instruction.signals:
        run.channels[channel].signals += 1
        _wake(run, ("signal", channel, -1, -1))
    for semaphore in instruction.releases:
        run.semaphores[rank][semaphore] += 1
        _wake(run, ("semaphore", rank, semaphore, -1))
