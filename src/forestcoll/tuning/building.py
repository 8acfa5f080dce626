"""Builds programs instruction by instruction: blocks, channels, and the place of each chunk on each rank."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forestcoll.programs.model import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Message,
    Program,
    Rank,
    Span,
    Task,
)


class Held(NamedTuple):
    """Data on a rank.

    Attributes:
        place: its place.
        written: the instruction that wrote it.
        block: the key of the block of this instruction.
    """

    place: Span
    written: Dependency
    block: Hashable


@dataclass
class Builder:
    """Collects the instructions of a program of messages whose buffers are separate.

    Blocks have keys, which are any values that differ between the blocks of a rank.

    Attributes:
        task: what the program computes: an allgather, a reduce-scatter or an allreduce.
        ranks: the number of ranks.
        chunks: the number of chunks of the data M.
        held: for each rank and first chunk of a range of chunks, the place of the current data and the instruction
            that wrote it; without an entry, this is the input of the rank.
    """

    task: Task
    ranks: int
    chunks: int
    held: dict[tuple[int, int], tuple[Span, Dependency]] = field(default_factory=dict)
    _blocks: list[dict[Hashable, list[Instruction]]] = field(init=False)
    _numbers: list[dict[Hashable, int]] = field(init=False)
    _scratch: list[int] = field(init=False)
    _channels: dict[Channel, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._blocks = [{} for _ in range(self.ranks)]
        self._numbers = [{} for _ in range(self.ranks)]
        self._scratch = [0] * self.ranks

    def program(self, name: str) -> Program:
        """Return the program, which is for in place and for out of place."""
        made = (
            Rank(tuple(Block(tuple(block)) for block in blocks.values()), *self._buffers, self._scratch[rank])
            for rank, blocks in enumerate(self._blocks)
        )
        return Program(
            name=name,
            task=self.task,
            ranks=tuple(made),
            channels=tuple(self._channels),
            chunks=self.chunks,
            shards=(self._shard,) * self.ranks if self.task.has_shards else (),
            in_place=True,
        )

    @property
    def _shard(self) -> int:
        return self.chunks // self.ranks

    @property
    def _buffers(self) -> tuple[int, int]:
        """The chunks of the input and of the output of each rank."""
        return (
            self._shard if self.task is Task.ALLGATHER else self.chunks,
            self._shard if self.task is Task.REDUCE_SCATTER else self.chunks,
        )

    def append(
        self,
        rank: int,
        key: Hashable,
        sources: Sequence[Span | Message],
        targets: Sequence[Span | Message],
        after: Sequence[Dependency] = (),
    ) -> Dependency:
        """Add an instruction to the block `key` of `rank`, after instructions of other blocks."""
        number = self._numbers[rank].setdefault(key, len(self._numbers[rank]))
        block = self._blocks[rank].setdefault(key, [])
        waits = tuple(each for each in dict.fromkeys(after) if each.block != number)
        block.append(Instruction(sources=tuple(sources), targets=tuple(targets), after=waits))
        return Dependency(number, len(block) - 1)

    def sum_of(self, rank: int, one: Held, other: Held) -> Held:
        """Let a rank add up two summands; the sum replaces the first one, in its block."""
        places = one.place, other.place
        return one._replace(written=self.append(rank, one.block, places, (one.place,), [other.written]))

    def sum_in_pairs(self, rank: int, summands: Sequence[Held]) -> Held:
        """Let a rank add up summands in pairs; sums replace the first half of them, rounded down."""
        sums = list(summands)
        while len(sums) > 1:
            half = (len(sums) + 1) // 2
            for place in range(len(sums) - half):
                sums[place] = self.sum_of(rank, sums[place], sums[half + place])
            sums = sums[:half]
        return sums[0]

    def message(self, number: int, source: int, target: int, count: int) -> Message:
        """Return a message of `count` chunks over the channel between two ranks that has a number."""
        channel = Channel(ChannelKind.FIFO, source, target, number)
        return Message(self._channels.setdefault(channel, len(self._channels)), count)

    def current(self, rank: int, chunks: range) -> tuple[Span, list[Dependency]]:
        """Return the place of the current data of chunks, and what must be done before it is read."""
        if (rank, chunks.start) in self.held:
            span, written = self.held[rank, chunks.start]
            return span, [written]
        shift = rank * self._shard if self.task is Task.ALLGATHER else 0
        return Span(rank, Buffer.INPUT, chunks.start - shift, len(chunks)), []

    def sum_place(self, rank: int, chunks: range) -> Span:
        """Return the place of a sum: in the output, or in scratch if the output has no space for the chunks."""
        if self.task is Task.REDUCE_SCATTER and chunks.start // self._shard != rank:
            return self.room(rank, chunks)
        return self.result(rank, chunks)

    def result(self, rank: int, chunks: range) -> Span:
        """Return the place of chunks in the output."""
        shift = rank * self._shard if self.task is Task.REDUCE_SCATTER else 0
        return Span(rank, Buffer.OUTPUT, chunks.start - shift, len(chunks))

    def room(self, rank: int, chunks: range) -> Span:
        """Return a new place in scratch for chunks."""
        self._scratch[rank] += len(chunks)
        return Span(rank, Buffer.SCRATCH, self._scratch[rank] - len(chunks), len(chunks))
