"""The thread blocks that do the jobs of ranks in one-sided programs, and the channels between the blocks.

The jobs of a rank get blocks in the order of their levels and of the distances of their targets. So the jobs of a block
wait for data that comes at about the same time, and a block sends to few ranks: where each pair of ranks has a link of
its own, a block then uses few links, and a link has few blocks. If there are fewer blocks than jobs, as many jobs
follow each other in a block as keep the load of the busiest block minimal. A job that only gives work to helpers does
not wait for jobs that move data. Last, the jobs that only wait for the end of a cell get blocks whose channels they
can share.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from forestcoll.programs.lowering.fitting import Excess, too_many_ports
from forestcoll.programs.lowering.jobs import Job, Kind
from forestcoll.programs.model import ChannelKind
from forestcoll.programs.model.limits import Limits

Tag: TypeAlias = tuple[int, bool]
"""What distinguishes the signals between two blocks that are sent and awaited in orders of their own."""


class End(NamedTuple):
    """The other end of a channel of a block.

    Attributes:
        rank: the other rank.
        block: its block.
        tag: distinguishes channels between the same blocks.
    """

    rank: int
    block: int
    tag: Tag


class _Seat(NamedTuple):
    job: Job
    block: int


@dataclass
class _Bin:
    """The jobs of a block, and what they need.

    Attributes:
        jobs: the jobs.
        load: the chunks that the block moves itself.
        steps: the most operations of the jobs.
        peers: the most channels of the jobs, by their kind.
        ends: the other ends of the channels, as far as they are known.
        open: the number of the other channels, by their kinds.
    """

    jobs: list[Job] = field(default_factory=list)
    load: int = 0
    steps: int = 0
    peers: Counter[ChannelKind] = field(default_factory=Counter)
    ends: set[End] = field(default_factory=set)
    open: Counter[ChannelKind] = field(default_factory=Counter)


class Blocks:
    """The blocks of all ranks: the jobs of each, and the blocks at both ends of each channel."""

    def __init__(self, ranks: int, limits: Limits, kind: Kind, steps: Callable[[Job], int]) -> None:
        """Start without jobs.

        Args:
            ranks: the number of ranks.
            limits: the limits of the target.
            kind: the kind of the channels between two ranks.
            steps: the most operations that a job takes.
        """
        self._bins: list[list[_Bin]] = [[] for _ in range(ranks)]
        self._limits, self._kind, self._steps = limits, kind, steps
        self._joined: list[dict[End, list[int]]] = [{} for _ in range(ranks)]
        self._summing: dict[tuple[int, int], _Seat] = {}
        self._hearing: dict[tuple[int, int], _Seat] = {}
        self._telling: dict[tuple[int, int], _Seat] = {}
        self._read: dict[tuple[int, int], _Seat] = {}

    def count(self, rank: int) -> int:
        """Return the number of blocks of a rank."""
        return len(self._bins[rank])

    def jobs(self, rank: int, number: int) -> Sequence[Job]:
        """Return the jobs of a block."""
        return self._bins[rank][number].jobs

    def target(self, job: Job, other: int) -> End:
        """Return the other end of the channel over which `job` sends to another rank."""
        sums = job.goes_up and other not in job.below
        known = self._read if other in job.reads else self._summing if sums else self._hearing
        hearer, number = known[job.place, other]
        return End(other, number, self._tag(job, hearer))

    def source(self, job: Job, other: int) -> End:
        """Return the other end of the channel over which another rank sends what `job` waits for."""
        summed = job.read_by is not None or (job.sums and other in job.cell.sums.get(job.rank, ()))
        sender, number = self._summing[job.place, other] if summed else self._telling[job.place, job.rank]
        return End(other, number, self._tag(sender, job))

    def _tag(self, sender: Job, hearer: Job) -> Tag:
        return hearer.level - sender.level, hearer.ends

    def place(self, jobs: Sequence[Job], most: int | None) -> Excess | None:
        """Give all jobs blocks, at most `most` for a rank, and return the limit that this exceeds, if there is one."""
        ranks = len(self._bins)
        of_rank: list[list[Job]] = [[] for _ in range(ranks)]
        for job in jobs:
            if not job.ends:
                of_rank[job.rank].append(job)
        for rank, listed in enumerate(of_rank):
            listed.sort(key=lambda job: (job.level, job.distance, job.place))
            bins = self._packed(listed, len(listed) if most is None else most)
            if isinstance(bins, Excess):
                return bins
            self._bins[rank] = bins
            for number, each in enumerate(bins):
                for job in each.jobs:
                    self._record(_Seat(job, number))
        for rank, bins in enumerate(self._bins):
            for number, each in enumerate(bins):
                for end in (end for job in each.jobs for end in self._known_ends(job)):
                    self._join(rank, number, end)
                each.open = Counter(self._kind(job.rank, other) for job in each.jobs for other in self._untold(job))
        return next((excess for job in jobs if job.ends and (excess := self._end(job, most))), None)

    def _record(self, seat: _Seat) -> None:
        job = seat.job
        if job.sums:
            self._summing[job.place, job.rank] = seat
        if job.spreads and job.first:
            self._hearing[job.place, job.rank] = seat
        for other in job.below:
            self._telling[job.place, other] = seat

    def _untold(self, job: Job) -> list[int]:
        """Return the ranks that `job` signals and whose blocks are not known yet."""
        known = self._summing if job.goes_up else self._hearing
        return [other for other in job.tells if (job.place, other) not in known]

    def _known_ends(self, job: Job) -> Iterator[End]:
        untold = set(self._untold(job))
        yield from (self.target(job, other) for other in job.tells if other not in untold)
        yield from (self.source(job, other) for other in job.hears)

    def _packed(self, jobs: Sequence[Job], most: int) -> "list[_Bin] | Excess":
        """Return blocks for jobs in their order, at most `most`: one for each job, or as few as have the least load.

        The load of a block is the number of chunks that it moves itself.
        """
        needs = [_Bin([job], self._load(job), self._steps(job), self._peers(job)) for job in jobs]
        for each in needs:
            if (excess := self._excess(jobs[0].rank, each.steps, each.peers)) is not None:
                return excess
        if len(needs) <= most:
            return needs
        total = sum(each.load for each in needs)
        low = max(1, -(-total // most), *(each.load for each in needs))
        high = max(low, total)
        if (least := len(self._filled(needs, high, most))) > most:
            return Excess("thread blocks", least, most, f"rank {jobs[0].rank}")
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if len(self._filled(needs, middle, most)) <= most else (middle + 1, high)
        return self._filled(needs, low, most)

    def _filled(self, needs: Sequence[_Bin], load: int, most: int) -> list[_Bin]:
        """Return blocks for jobs in their order, each with at most this load; jobs share only while they must."""
        bins: list[_Bin] = []
        for place, each in enumerate(needs):
            last = bins[-1] if bins else None
            if (
                last is None
                or len(needs) - place <= most - len(bins)
                or last.load + each.load > load
                or (each.load > 0 and not last.load)
                or self._excess(each.jobs[0].rank, last.steps + each.steps, last.peers + each.peers) is not None
            ):
                bins.append(last := _Bin())
            last.jobs += each.jobs
            last.load += each.load
            last.steps += each.steps
            last.peers += each.peers
        return bins

    def _excess(self, rank: int, steps: int, channels: Counter[ChannelKind]) -> Excess | None:
        """Return the limit that a block with these operations and channels exceeds, or None."""
        most = self._limits.channels_of_block
        for kind, count in channels.items():
            if most is not None and count > most:
                if kind is ChannelKind.PORT:
                    return too_many_ports(count, most, rank)
                fits = f"a schedule in which a rank exchanges the data of a tree with at most {most} ranks"
                return Excess(f"{kind.value} channels of a block", count, most, f"rank {rank}", fits)
        taken = steps + _operations_at_ends(channels.total())
        if self._limits.steps is not None and taken > self._limits.steps:
            return Excess("steps of a block", taken, self._limits.steps, f"rank {rank}")
        return None

    def _load(self, job: Job) -> int:
        """Return the chunks that the block of a job moves itself; helpers of PORT channels move the others."""
        near = sum(self._kind(job.rank, other) is ChannelKind.MEMORY for other in job.below)
        return job.cell.count * (near + job.sums)

    def _peers(self, job: Job) -> Counter[ChannelKind]:
        return Counter(self._kind(job.rank, other) for other in (*job.hears, *job.tells))

    def _end(self, job: Job, most: int | None) -> Excess | None:
        """Give a job that ends a cell a block that is joined to its sender, or the one with the fewest channels."""
        bins, sender, steps = self._bins[job.rank], job.hears[0], self._steps(job)
        end = self.source(job, sender)

        def fits(each: _Bin) -> bool:
            kinds = Counter(self._kind(job.rank, other.rank) for other in {*each.ends, end})
            return self._excess(job.rank, each.steps + steps, kinds + each.open) is None

        def order(place: int) -> tuple[bool, int, int]:
            return place != end.block, len(bins[place].ends), place

        def places() -> Iterator[int]:
            yield from sorted(self._joined[job.rank].get(end, ()), key=order)
            if end.block < len(bins):
                yield end.block
            yield from sorted(range(len(bins)), key=order)

        chosen = next((place for place in places() if fits(bins[place])), None)
        if chosen is None:
            if most is not None and len(bins) >= most:
                return Excess("thread blocks", len(bins) + 1, most, f"rank {job.rank}")
            bins.append(_Bin())
            chosen = len(bins) - 1
        bins[chosen].jobs.append(job)
        bins[chosen].steps += steps
        self._join(job.rank, chosen, end)
        known = self._hearing if job.spreads else self._read
        known[job.place, job.rank] = _Seat(job, chosen)
        self._join(sender, end.block, End(job.rank, chosen, end.tag))
        self._bins[sender][end.block].open[self._kind(sender, job.rank)] -= 1
        return None

    def _join(self, rank: int, place: int, end: End) -> None:
        """Record that a block has a channel to another block."""
        if end not in self._bins[rank][place].ends:
            self._bins[rank][place].ends.add(end)
            self._joined[rank].setdefault(end, []).append(place)


def _operations_at_ends(channels: int) -> int:
    """Return the most operations at the start and the end of a block: signals, waits, flushes, meetings."""
    return 4 * -(-channels // 8) + 3
