"""The thread blocks of each rank: each end of each FIFO channel belongs to one block.

A block has at most one peer to receive from and one to send to, on one channel number. If a chain passes through a
rank, both ends belong to one block. The other ends have separate blocks or, to save blocks, are combined in pairs: one
end that receives and one that sends on the same channel number. The order of the chains prevents deadlocks then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.lowering.chains import Chain


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a FIFO channel: at `rank`, with number `channel`, from or to rank `peer`."""

    rank: int
    channel: int
    peer: int
    receives: bool


@dataclass(frozen=True, slots=True)
class BlockTable:
    """The blocks of all ranks.

    Attributes:
        counts: for each rank, its number of blocks.
        numbers: for each end, the number of its block.
        local: for each rank that copies its own data, the block that copies.
    """

    counts: tuple[int, ...]
    numbers: Mapping[End, int]
    local: Mapping[int, int]


def block_table(chains: Sequence[Chain], ranks: int, copiers: Sequence[int], *, together: bool) -> BlockTable:
    """Return the blocks that `chains` need, and a block that copies at each of `copiers`.

    With `together`, ends and copies that need no block of their own are combined: ends in pairs, copies with block 0.
    """
    mates = _mates(chains)
    ends = sorted(mates)
    if together:
        _pair(ends, mates)
    numbers: dict[End, int] = {}
    counts = [0] * ranks
    for end in ends:
        mate = mates[end]
        if mate is not None and mate in numbers:
            numbers[end] = numbers[mate]
        else:
            numbers[end] = counts[end.rank]
            counts[end.rank] += 1
    local = {}
    for rank in copiers:
        local[rank] = 0 if together else counts[rank]
        counts[rank] = max(counts[rank], local[rank] + 1)
    return BlockTable(tuple(counts), numbers, local)


def _mates(chains: Sequence[Chain]) -> dict[End, End | None]:
    """Return all ends. An end is mapped to the other end of its block if a chain passes through both, else to None."""
    mates: dict[End, End | None] = {}
    for chain in chains:
        ends = [
            (End(source, chain.channel, target, receives=False), End(target, chain.channel, source, receives=True))
            for source, target in pairwise(chain.path)
        ]
        for pair in ends:
            for end in pair:
                mates.setdefault(end, None)
        for (_, arrives), (leaves, _) in pairwise(ends):
            mates[arrives], mates[leaves] = leaves, arrives
    return mates


def _pair(ends: Sequence[End], mates: dict[End, End | None]) -> None:
    """Combine ends without a mate in their order, one end that receives with one that sends."""
    waiting: dict[tuple[int, int, bool], list[End]] = {}
    for end in ends:
        if mates[end] is not None:
            continue
        others = waiting.get((end.rank, end.channel, not end.receives))
        if others:
            other = others.pop(0)
            mates[end], mates[other] = other, end
        else:
            waiting.setdefault((end.rank, end.channel, end.receives), []).append(end)
