"""The jobs of ranks in one-sided programs: what one thread block of a rank does for a cell.

A job adds up what the children of the rank send and sends the sum to the parent, or it sends the result to children of
the rank, or both. With `Options.children`, a rank with more children has several jobs for the result of a cell, so that
several blocks send it at the same time. The first of them waits for the result and lets the others begin, by semaphores
of the rank. Helpers move the data for other boxes, so the first job gives them their work, and sends nothing itself. If
a root would need more channels than a block may use to add up data and to send the result, one job does only the first.

With packets, a rank has one job for a cell.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from forestcoll.programs.lowering.cells import Cell
from forestcoll.programs.model import ChannelKind


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """What one block of a rank does for a cell.

    Attributes:
        cell: the cell.
        place: the number of the cell, in an order that is the same for all ranks.
        rank: the rank.
        sums: whether it adds up the data of the rank and its children, and sends the sum on.
        spreads: whether it takes part in spreading the result.
        below: the ranks that it sends the result to.
        semaphore: if another job lets it begin, the semaphore of the rank that it waits for.
        followers: the semaphores of the jobs that it lets begin.
        first: whether it is the first job of its rank for the result.
        at_once: whether a switch adds up the data of all ranks for it.
        level: how late it can begin: more than the level of each job that it waits for. 0 for sums in packets.
        distance: the distance of the nearest rank of its box that it writes to, if ranks form a circle; 0 if none.
    """

    cell: Cell
    place: int
    rank: int
    sums: bool = False
    spreads: bool = False
    below: tuple[int, ...] = ()
    semaphore: int | None = None
    followers: tuple[int, ...] = ()
    first: bool = True
    at_once: bool = False
    level: int = 0
    distance: int = 0

    @property
    def hears(self) -> tuple[int, ...]:
        """Return the ranks whose signals it waits for."""
        cell, rank = self.cell, self.rank
        heard = cell.sums.get(rank, ()) if self.sums and not self.at_once else ()
        upper = cell.results_come_from.get(rank)
        return (*heard, upper) if self.spreads and self.first and upper is not None else heard

    @property
    def tells(self) -> tuple[int, ...]:
        """Return the ranks that it writes to and signals."""
        upper = self.cell.sums_go_to.get(self.rank) if self.sums else None
        return self.below if upper is None else (upper, *self.below)

    @property
    def goes_up(self) -> bool:
        """Return whether it sends a sum to its parent."""
        return self.sums and self.rank != self.cell.root

    @property
    def ends(self) -> bool:
        """Return whether it does nothing after the result has arrived, except store it."""
        return not self.sums and not self.below and self.rank != self.cell.root


Kind: TypeAlias = Callable[[int, int], ChannelKind]
"""The kind of the channels between two ranks."""


@dataclass(frozen=True)
class JobMaker:
    """Makes jobs, and numbers the semaphores of each rank.

    Attributes:
        ranks: the number of ranks.
        kind: the kind of the channels between two ranks.
        most: the most ranks of its box to which a job sends a result; None for any number.
        channels: the most channels of one kind that a block may use; None for any number.
        packets: whether data moves in packets.
        semaphores: the number of semaphores of each rank that are used.
    """

    ranks: int
    kind: Kind
    most: int | None
    channels: int | None
    packets: bool
    semaphores: Counter[int] = field(default_factory=Counter)

    def jobs(self, cell: Cell, place: int) -> Iterator[Job]:
        """Yield the jobs of all ranks for a cell."""
        if cell.at_once and not self.packets:
            yield Job(cell, place, cell.root, sums=True, spreads=True, below=cell.at_once[1:], at_once=True)
            yield from (Job(cell, place, rank, spreads=True) for rank in cell.at_once[1:])
            return
        for rank in sorted(cell.ranks):
            for job in self._of_rank(cell, place, rank):
                level = 0 if self.packets and cell.sums else _level(job)
                yield replace(job, level=level, distance=self._distance(job))

    def _of_rank(self, cell: Cell, place: int, rank: int) -> Iterator[Job]:
        sums = bool(cell.sums)
        if not cell.spreads:
            yield Job(cell, place, rank, sums=sums)
            return
        if sums and rank != cell.root and not self.packets:
            yield Job(cell, place, rank, sums=True)
            sums = False
        parts = self._parts(cell, rank)
        if sums and not self.packets and self._is_crowded(rank, (*cell.sums.get(rank, ()), *parts[0])):
            parts = [(), *parts]
        first, *others = parts
        waits = sums or rank != cell.root
        begin = self.semaphores[rank]
        numbers = tuple(range(begin, begin + len(others) * waits))
        self.semaphores[rank] += len(numbers)
        yield Job(cell, place, rank, sums=sums, spreads=True, below=first, followers=numbers)
        for number, part in enumerate(others, begin):
            semaphore = number if waits else None
            yield Job(cell, place, rank, spreads=True, below=part, semaphore=semaphore, first=False)

    def _is_crowded(self, rank: int, others: Sequence[int]) -> bool:
        """Return whether a block may not use a channel for each of `others`."""
        counts = Counter(self.kind(rank, other) for other in others)
        return self.channels is not None and max(counts.values(), default=0) > self.channels

    def _parts(self, cell: Cell, rank: int) -> list[tuple[int, ...]]:
        """Return the children of a rank for each of its jobs; those of other boxes, which helpers reach, are first."""
        below = cell.spreads.get(rank, ())
        if self.most is None or self.packets or rank in cell.stores:
            return [below]
        far = tuple(other for other in below if self.kind(rank, other) is ChannelKind.PORT)
        near = [other for other in below if other not in far]
        parts = [tuple(near[begin : begin + self.most]) for begin in range(0, len(near), self.most)]
        return [far, *parts] if far or not parts else parts

    def _distance(self, job: Job) -> int:
        near = [other for other in job.tells if self.kind(job.rank, other) is ChannelKind.MEMORY]
        return min(((other - job.rank) % self.ranks for other in near or job.tells), default=0)


def _level(job: Job) -> int:
    """Return the level of a job: twice the sends that it waits for, and one more if another job lets it begin."""
    cell = job.cell
    sends = cell.heights[job.rank] if job.sums else cell.heights[cell.root] + cell.depths[job.rank]
    return 2 * sends + int(not job.first)
