"""The jobs of ranks in one-sided programs: what one thread block of a rank does for a cell.

A job adds up what the children of the rank send and sends the sum to the parent, or it sends the result to children of
the rank, or both. With `Options.children`, a rank with more children has several jobs for the result of a cell, so that
several blocks send it at the same time. The first of them waits for the result and lets the others begin, by semaphores
of the rank. Helpers move the data for other boxes, so the first job gives them their work, and sends nothing itself. If
a root would need more channels than a block may use to add up data and to send the result, one job does only the first.
So does one if a switch then reads this sum.

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
        reads: the ranks whose data a switch adds up for it and that only state that they have started.
        read_by: the rank for which a switch reads the data of this one; the job only states that it has started.
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
    reads: tuple[int, ...] = ()
    read_by: int | None = None
    level: int = 0
    distance: int = 0

    @property
    def hears(self) -> tuple[int, ...]:
        """Return the ranks that access memory of this one for it: it waits for their signals, or a switch reads."""
        cell, rank = self.cell, self.rank
        if self.read_by is not None:
            return (self.read_by,)
        heard = cell.heard(rank) if self.sums else ()
        upper = cell.results_come_from.get(rank)
        return (*heard, upper) if self.spreads and self.first and upper is not None else heard

    @property
    def tells(self) -> tuple[int, ...]:
        """Return the ranks whose memory it accesses: it writes to them and signals, or a switch reads for it."""
        upper = self.cell.sums_go_to.get(self.rank) if self.sums else None
        others = (*self.below, *self.reads)
        return others if upper is None else (upper, *others)

    @property
    def goes_up(self) -> bool:
        """Return whether it sends a sum to its parent."""
        return self.sums and self.rank != self.cell.root

    @property
    def ends(self) -> bool:
        """Return whether it does nothing after the result has arrived, except store it, or nothing at all."""
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
            yield from self._up(cell, place, rank)
            sums = False
        parts = self._parts(cell, rank)
        if sums and not self.packets and self._is_apart(cell, rank, parts[0]):
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

    def _up(self, cell: Cell, place: int, rank: int) -> Iterator[Job]:
        """Yield the job for the sum of a rank: to send it, or to state that the data may be read.

        A child of the root states this with the job that gets the result from the same block.
        """
        upper = cell.sums_go_to[rank]
        if rank not in cell.adds.get(upper, ()):
            yield Job(cell, place, rank, sums=True, reads=cell.adds.get(rank, ()))
        elif upper != cell.root:
            yield Job(cell, place, rank, read_by=upper)

    def _is_apart(self, cell: Cell, root: int, below: Sequence[int]) -> bool:
        """Return whether a root adds up in a job of its own.

        It does if a block may not use a channel for each rank that it hears or sends to, or if a switch reads the sum:
        the semaphore between the jobs completes the writes.
        """
        heard = cell.heard(root)
        counts = Counter(self.kind(root, other) for other in (*heard, *below))
        is_crowded = self.channels is not None and max(counts.values(), default=0) > self.channels
        return is_crowded or (bool(heard) and root in cell.adds)

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
