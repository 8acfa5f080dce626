"""Ranks of a large program that are made when they are read, because all of them together would take gigabytes."""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from forestcoll.programs.model.program import Message, Program, Rank


class DeferredRanks(Sequence[Rank]):
    """The ranks of a program, made one at a time, when they are read; the last one is kept, or all.

    Attributes:
        blocks: for each rank, the number of its blocks.
        messages: for each channel of the program, the number of messages; None if it is counted when it is needed.
        instructions: the number of instructions of all ranks; None if it is counted when it is needed.
    """

    def __init__(
        self,
        make: Callable[[int], Rank],
        blocks: Sequence[int],
        messages: Sequence[int] | None = None,
        instructions: int | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        """Use `make` to make the rank with a number; `keeps`: all ranks are kept."""
        self._make, self._keeps = make, keeps
        self._made: dict[int, Rank] = {}
        self.blocks, self.instructions = tuple(blocks), instructions
        self.messages = None if messages is None else tuple(messages)

    def __len__(self) -> int:
        return len(self.blocks)

    @overload
    def __getitem__(self, number: int) -> Rank: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Rank, ...]: ...
    def __getitem__(self, number: int | slice) -> Rank | tuple[Rank, ...]:
        if isinstance(number, slice):
            return tuple(self[each] for each in range(*number.indices(len(self))))
        number = range(len(self))[number]
        if number not in self._made:
            if not self._keeps:
                self._made.clear()
            self._made[number] = self._make(number)
        return self._made[number]

    def __iter__(self) -> Iterator[Rank]:
        return (self[number] for number in range(len(self)))


def block_counts(program: Program) -> Sequence[int]:
    """Return the number of blocks of each rank."""
    ranks = program.ranks
    return ranks.blocks if isinstance(ranks, DeferredRanks) else [len(rank.blocks) for rank in ranks]


def instruction_count(program: Program) -> int:
    """Return the number of instructions of all ranks."""
    ranks = program.ranks
    known = ranks.instructions if isinstance(ranks, DeferredRanks) else None
    return sum(1 for _ in program.instructions()) if known is None else known


def message_counts(program: Program) -> Sequence[int]:
    """Return the number of messages of each channel."""
    if isinstance(program.ranks, DeferredRanks) and program.ranks.messages is not None:
        return program.ranks.messages
    counts = [0] * len(program.channels)
    for *_, instruction in program.instructions():
        for place in instruction.targets:
            if isinstance(place, Message):
                counts[place.channel] += 1
    return counts
