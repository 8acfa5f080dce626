"""The thread blocks of each rank: each end of each FIFO channel belongs to one block.

A block has at most one peer to receive from and one to send to, on one channel number. If a chain passes through a
rank, both ends belong to one block. The other ends have separate blocks or, to save blocks, are combined in pairs: one
end that receives and one that sends on the same channel number. The order of the chains prevents deadlocks then.

The ends of channels are in the order of their ranks, channel numbers and peers; an end that sends comes before one that
receives. All columns are arrays, so that the time is nearly linear in the number of hops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.programs.lowering.chains import Chains, IntArray

_ALONE = -1
"""The mate of an end that has none."""


@dataclass(frozen=True, slots=True)
class BlockTable:
    """The blocks of all ranks.

    Attributes:
        counts: for each rank, its number of blocks.
        entries: for each entry of the paths of the chains, the block of the rank that handles it.
        local: for each rank that copies its own data, the block that copies.
        sharing: the most blocks of a rank that send, or that receive, on one channel number.
    """

    counts: tuple[int, ...]
    entries: IntArray
    local: Mapping[int, int]
    sharing: int

    def steps(self, chains: Chains) -> IntArray:
        """Return the number of steps of each block, without steps that only copy or wait; ranks follow each other."""
        begins = np.cumsum((0, *self.counts))
        return np.bincount(begins[chains.ranks] + self.entries, minlength=int(begins[-1]))


def block_table(chains: Chains, ranks: int, copiers: Sequence[int], *, together: bool) -> BlockTable:
    """Return the blocks that `chains` need, and a block that copies at each of `copiers`.

    With `together`, ends and copies that need no block of their own are combined: ends in pairs, copies with block 0.
    """
    ends, sends, receives = _ends(chains, ranks)
    mates = _mates(chains, len(ends), sends, receives)
    if together:
        _pair(ends, mates)
    numbers, totals = _numbers(ends, mates, ranks)
    counts, local = totals.tolist(), {}
    for rank in copiers:
        local[rank] = 0 if together else counts[rank]
        counts[rank] = max(counts[rank], local[rank] + 1)
    entries = np.zeros(len(chains.ranks), dtype=np.int64)
    entries[chains.hops] = numbers[sends]
    entries[chains.hops + 1] = numbers[receives]
    sharing = np.unique(ends, axis=0, return_counts=True)[1].max(initial=0)
    return BlockTable(tuple(counts), entries, local, int(sharing))


def _ends(chains: Chains, ranks: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the ranks, channels and peers of all ends as one number each, and the two ends of each hop."""
    source, target = chains.ranks[chains.hops], chains.ranks[chains.hops + 1]
    channel = chains.channel[chains.of_entry[chains.hops]]
    width = int(channel.max(initial=0)) + 1
    sending = ((source * width + channel) * ranks + target) * 2
    receiving = ((target * width + channel) * ranks + source) * 2 + 1
    ends, place = np.unique(np.concatenate((sending, receiving)), return_inverse=True)
    rank, rest = np.divmod(ends, width * ranks * 2)
    number, last = np.divmod(rest, ranks * 2)
    listed = np.stack((rank, number, last % 2), axis=1)
    return listed, place[: len(sending)], place[len(sending) :]


def _mates(chains: Chains, count: int, sends: IntArray, receives: IntArray) -> IntArray:
    """Return, for each end, the other end of its block if a chain passes through both."""
    mates = np.full(count, _ALONE, dtype=np.int64)
    through = np.flatnonzero(np.diff(chains.hops) == 1)
    mates[receives[through]] = sends[through + 1]
    mates[sends[through + 1]] = receives[through]
    return mates


def _pair(ends: IntArray, mates: IntArray) -> None:
    """Combine ends without a mate in their order, one end that receives with one that sends."""
    waiting: dict[tuple[int, int, int], list[int]] = {}
    for end in np.flatnonzero(mates == _ALONE).tolist():
        rank, channel, receives = ends[end].tolist()
        others = waiting.get((rank, channel, 1 - receives))
        if others:
            mates[end] = others.pop(0)
            mates[mates[end]] = end
        else:
            waiting.setdefault((rank, channel, receives), []).append(end)


def _numbers(ends: IntArray, mates: IntArray, ranks: int) -> tuple[IntArray, IntArray]:
    """Return the number of the block of each end, and the number of blocks of each rank."""
    first = (mates == _ALONE) | (mates > np.arange(len(mates)))
    totals = np.bincount(ends[first, 0], minlength=ranks)
    numbers = np.cumsum(first) - 1 - (np.cumsum(totals) - totals)[ends[:, 0]]
    return np.where(first, numbers, numbers[mates]), totals
