"""What a collective does on the contiguous memory of one rank, whichever way it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import torch

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Plan, ReduceOp

GRAIN_BYTES = 128
"""Parts of the data begin at multiples of it."""

SLOT_MICROSECONDS = 30
"""What a slot is assumed to cost besides its data. A measured table replaces it."""

MOST_CHUNKS = 32


@dataclass(frozen=True, slots=True)
class Movement:
    """A collective on this rank's memory.

    Attributes:
        collective: what is done.
        data: the flat vector that gets the result: all data or, in a reduce-scatter, the shard. A reduce has it on the
            root only; elsewhere it is the input.
        source: the flat vector that is only read: the shard of an allgather, all data of a reduce-scatter, the input of
            a reduce on ranks that are not the root; else None.
        op: the reduction.
        counts: of each rank the elements of its shard, if they differ.
        root: the rank of the root, where there is one.
        chunks: S, the number of parts that follow each other through the slots.
    """

    collective: Collective
    data: torch.Tensor
    source: torch.Tensor | None
    op: ReduceOp
    counts: tuple[int, ...] | None
    root: int | None
    chunks: int

    @property
    def count(self) -> int:
        """The elements of all data."""
        whole = self.source if self.collective is Collective.REDUCE_SCATTER else None
        return int((self.data if whole is None else whole).numel())

    @property
    def bytes(self) -> int:
        """M, the bytes of all data."""
        return self.count * int(self.data.element_size())

    @property
    def step_op(self) -> ReduceOp:
        """What a rank does with the data that come: an average is a sum that is divided at the end."""
        return ReduceOp.SUM if self.op is ReduceOp.AVG else self.op

    @property
    def key(self) -> tuple[object, ...]:
        """What all ranks know of it: it is equal in two calls on all ranks, or on none."""
        return self.collective, self.count, self.data.dtype, self.op, self.counts, self.root, self.chunks

    @property
    def grain(self) -> int:
        """Of how many elements parts are multiples."""
        return max(1, GRAIN_BYTES // int(self.data.element_size()))


def chunks_for(plan: Plan, depth: int, size: int) -> int:
    """Return S for `size` bytes: √((D - 1)·T / a) makes (S + D - 1)·(a + T / S) least, T being the schedule's time.

    Args:
        plan: of the schedule.
        depth: D: a chunk is on its way for D slots.
        size: the bytes of all data, M.
    """
    time = Fraction(size) / (plan.algbw * bytes_per_microsecond(plan.unit))
    return min(MOST_CHUNKS, max(1, isqrt(int((depth - 1) * time / SLOT_MICROSECONDS))))


def cuts_of(count: int, chunks: int, unit: int) -> Sequence[int]:
    """Return where chunks of `count` elements begin and end: multiples of `unit`, but for the last end.

    Example:
        >>> cuts_of(10, 3, 2)
        [0, 2, 6, 10]
    """
    units = -(-count // unit)
    return [min(count, units * each // chunks * unit) for each in range(chunks + 1)]
