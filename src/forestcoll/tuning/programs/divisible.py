"""Numbers of chunks that divide the sizes of calls.

A runtime uses a program only for sizes that its chunks divide. Frameworks call with powers of two, or with multiples of
the number of ranks that are powers of two on each rank. So the number of chunks is a power of two, times the number of
chunks that the shards of the ranks need (`unit`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.programs.lowering.grid import Grids, achieved, unit_of
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule

LEAST_BYTES = 2**16
"""The least size of M that a program is made for by default: 64 KiB."""

LOSSES = (Fraction(1, 300), Fraction(1, 60), Fraction(1, 25), Fraction(1, 12))
"""The losses by rounding for which the least number of chunks is tried."""


@dataclass(frozen=True, slots=True)
class ChunkCount:
    """A number of chunks, and what it costs.

    Attributes:
        chunks: the number of chunks.
        loss: the part of the algbw of the schedule that is lost by rounding shares.
        trees: the number of trees that carry data.
    """

    chunks: int
    loss: Fraction
    trees: int


def counts_for(schedule: TreeSchedule, most: int) -> tuple[ChunkCount, ...]:
    """Return the numbers of chunks that calls divide, up to `most`, in ascending order; no loss is above one before it.

    Raises:
        InputError: the shards need more than `most` chunks.
    """
    listed = expanded(schedule)
    unit = unit_of(listed)
    if unit > most:
        raise InputError(
            f"{schedule.topology.name}: the shards of the ranks need {unit} chunks, and {most} is the most; "
            f"use chunks={unit} or more"
        )
    return tuple(_counts(listed, unit, most))


def _counts(schedule: TreeSchedule, unit: int, most: int) -> Iterator[ChunkCount]:
    chunks, grids = unit, Grids(schedule)
    while chunks <= most:
        grid = grids.best(chunks)
        trees = sum(each > 0 for phase in grid.trees for each in phase)
        count = ChunkCount(chunks, 1 - achieved(schedule, grid) / schedule.algbw, trees)
        yield count
        if not count.loss:
            return
        chunks *= 2


def least_with(counts: Sequence[ChunkCount], loss: Fraction) -> ChunkCount:
    """Return the least number of chunks that loses at most `loss`; if none does, the least with the least loss."""
    return next((each for each in counts if each.loss <= loss), min(counts, key=lambda each: (each.loss, each.chunks)))


def numbers_of_chunks(counts: Sequence[ChunkCount], losses: Sequence[Fraction]) -> list[int]:
    """Return the least number of chunks for each of `losses`, in ascending order; none without `counts`."""
    return sorted({least_with(counts, loss).chunks for loss in losses}) if counts else []
