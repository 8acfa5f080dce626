"""Which thread block of a rank does what: each end of each FIFO channel belongs to one block.

A block has at most one peer to receive from and one to send to, on one channel number. Where a chain passes through a
rank, both ends belong to one block. The rest have blocks of their own or, to save blocks, are put two and two together,
one that receives and one that sends on the same channel number; the order of the chains keeps that from deadlocks.
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
        counts: of each rank, how many blocks it has.
        numbers: of each end, the number of its block.
        local: of each rank that copies for itself, the block that does.
    """

    counts: tuple[int, ...]
    numbers: Mapping[End, int]
    local: Mapping[int, int]


def block_table(chains: Sequence[Chain], ranks: int, copiers: Sequence[int], *, together: bool) -> BlockTable:
    """Return the blocks that `chains` need, and at each of `copiers` one that copies.

    Those that need not be apart are put `together`: ends that are left with each other, the copies with block 0.
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
    """Return all ends, each with the other one of its block where a chain passes through both."""
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
    """Put ends without a mate together, in their order, one that receives and one that sends at a time."""
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
