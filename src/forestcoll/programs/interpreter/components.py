"""Components of a program, which have nothing to do with each other, so that each can be checked alone.

Two blocks belong to one component if they use the same channel, or the same semaphore or barrier of a rank, if one
depends on the other, or if one writes a cell that the other reads or writes. So no block waits for another component,
directly or through others, and all accesses of a cell that is written belong to one component. The blocks of one number
on all ranks, which move chunks of their own, are often a component. The work and the memory of a check grow with the
square of the number of blocks, so the sum over components is much less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.programs.interpreter.order import Place, RunState
from forestcoll.programs.model import ChannelKind, Instruction, Message, Multicast, Program, Span
from forestcoll.programs.model import Place as DataPlace


@dataclass(frozen=True, slots=True)
class Component:
    """Some blocks of a program.

    Attributes:
        blocks: the rank of each block, and its number in that rank.
        ports: the PORT channels whose helpers work for them.
        order: the instructions of these blocks, in the order of a run.
    """

    blocks: list[tuple[int, int]]
    ports: list[int]
    order: list[Place]


def whole(run: RunState) -> Component:
    """Return all blocks as one component."""
    ports = [number for number, each in enumerate(run.program.channels) if each.kind is ChannelKind.PORT]
    return Component(run.blocks, ports, run.order)


def components_of(run: RunState) -> list[Component]:
    """Return the components of a program that came to its end."""
    joined = _Joined(run)
    for block, listed in enumerate(run.lists):
        for instruction in listed:
            joined.by_order(block, instruction)
            joined.by_writes(block, instruction)
    for block, listed in enumerate(run.lists):
        for instruction in listed:
            joined.by_reads(block, instruction)
    return joined.components()


class _Joined:
    """The blocks of a run in disjoint sets, each named by its first block."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._above = list(range(len(run.blocks)))
        self._users: dict[tuple[str, int, int], int] = {}
        self._writers = np.full(run.memory.size, -1, dtype=np.int64)

    def _first(self, block: int) -> int:
        above = self._above
        while above[block] != block:
            above[block] = block = above[above[block]]
        return block

    def _join(self, one: int, other: int) -> None:
        low, high = sorted((self._first(one), self._first(other)))
        self._above[high] = low

    def by_order(self, block: int, instruction: Instruction) -> None:
        """Join a block with those that an instruction waits for, or that wait for it."""
        rank = self._run.blocks[block][0]
        for key in _shared(self._run.program, rank, instruction):
            self._join(block, self._users.setdefault(key, block))
        for dependency in instruction.after:
            self._join(block, self._run.number[rank, dependency.block])

    def by_writes(self, block: int, instruction: Instruction) -> None:
        """Join a block with those that wrote the same cells before."""
        for cells in self._cells(instruction.targets):
            self._meet(block, cells)
            self._writers[cells] = block

    def by_reads(self, block: int, instruction: Instruction) -> None:
        """Join a block with those that write what it reads, once all writes are known."""
        for cells in self._cells(instruction.sources):
            self._meet(block, cells)

    def _meet(self, block: int, cells: slice) -> None:
        for other in set(self._writers[cells].tolist()):
            if other >= 0:
                self._join(block, other)

    def _cells(self, places: Sequence[DataPlace]) -> Iterator[slice]:
        memory = self._run.memory
        for place in places:
            if isinstance(place, Span):
                yield memory.of_span(place)
            elif isinstance(place, Multicast):
                for rank in self._run.program.groups[place.group]:
                    yield memory.cells(rank, place.buffer, place.offset, place.count)

    def components(self) -> list[Component]:
        """Return the sets as components."""
        run = self._run
        firsts = [self._first(block) for block in range(len(run.blocks))]
        found = {first: Component([], [], []) for first in dict.fromkeys(firsts)}
        for block, first in enumerate(firsts):
            found[first].blocks.append(run.blocks[block])
        for (kind, number, _), block in self._users.items():
            if kind == "channel" and run.program.channels[number].kind is ChannelKind.PORT:
                found[firsts[block]].ports.append(number)
        for place in run.order:
            found[firsts[run.number[place[0], place[1]]]].order.append(place)
        return list(found.values())


def _shared(program: Program, rank: int, instruction: Instruction) -> Iterator[tuple[str, int, int]]:
    """Yield what an instruction uses that orders blocks; all blocks that use the same belong together."""
    channels = {*instruction.waits, *instruction.signals, *instruction.flushes}
    channels |= {each.channel for each in instruction.places if isinstance(each, Message)}
    if instruction.channel is not None and program.channels[instruction.channel].kind is ChannelKind.PORT:
        channels.add(instruction.channel)
    yield from (("channel", channel, -1) for channel in channels)
    yield from (("semaphore", rank, each) for each in (*instruction.acquires, *instruction.releases))
    if instruction.barrier is not None:
        yield "barrier", rank, instruction.barrier.number
