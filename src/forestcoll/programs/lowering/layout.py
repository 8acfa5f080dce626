"""The layout of the data: which chunks of which buffer contain a range of the data, by the rules of the task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from forestcoll.demand.collective import Collective
from forestcoll.programs.lowering.grid import Grid
from forestcoll.programs.lowering.options import Options
from forestcoll.programs.model import Block, Buffer, Channel, Program, Rank, Span, Task
from forestcoll.schedule.trees.value import TreeSchedule

_TASKS = {
    Collective.ALLGATHER: Task.ALLGATHER,
    Collective.REDUCE_SCATTER: Task.REDUCE_SCATTER,
    Collective.ALLREDUCE: Task.ALLREDUCE,
    Collective.BROADCAST: Task.BROADCAST,
    Collective.REDUCE: Task.REDUCE,
}


@dataclass(frozen=True)
class DataLayout:
    """The data of a program.

    Attributes:
        task: the task of the program.
        chunks: the number of chunks of all data.
        parts: for each rank, the number of chunks of which it is the root, in the order of the ranks.
        root: the root of a broadcast or a reduce.
        options: the options of the lowering.
    """

    task: Task
    chunks: int
    parts: tuple[int, ...]
    root: int | None
    options: Options

    @staticmethod
    def of(schedule: TreeSchedule, grid: Grid, options: Options) -> "DataLayout":
        """Return the layout of the program of `schedule`; its chunks are those of `grid`, divided further."""
        root = schedule.members.index(schedule.phases[0].roots[0]) if schedule.collective.has_root else None
        parts = tuple(part * options.scale for part in grid.parts)
        return DataLayout(_TASKS[schedule.collective], grid.chunks * options.scale, parts, root, options)

    @cached_property
    def begins(self) -> tuple[int, ...]:
        """Return, for each rank, the number of the first chunk that it is the root of."""
        return tuple(accumulate(self.parts, initial=0))[:-1]

    def own(self, rank: int, offset: int, count: int) -> Span:
        """Return where `rank` has its contribution to chunks of the data."""
        shift = self.begins[rank] if self.task is Task.ALLGATHER else 0
        return Span(rank, Buffer.INPUT, offset - shift, count)

    def result(self, rank: int, offset: int, count: int) -> Span:
        """Return where the result of `rank` for chunks of the data lies; it may be written there early."""
        shift = self.begins[rank] if self.task is Task.REDUCE_SCATTER else 0
        return Span(rank, Buffer.OUTPUT, offset - shift, count)

    def keeps(self, rank: int, root: int) -> bool:
        """Return whether the output of `rank` has space for chunks whose root is `root`."""
        return rank == root or self.task in {Task.ALLGATHER, Task.ALLREDUCE, Task.BROADCAST}

    def sizes(self, rank: int) -> tuple[int, int]:
        """Return the sizes of the input and the output of `rank`."""
        all_, part = self.chunks, self.parts[rank]
        if self.task is Task.ALLGATHER:
            return part, all_
        return (all_, part) if self.task is Task.REDUCE_SCATTER else (all_, all_)

    def rank(self, number: int, blocks: Iterable[Block], scratch: int, semaphores: int = 0) -> Rank:
        """Return a rank with these blocks, `scratch` chunks of scratch, and so many semaphores, which start with 0."""
        return Rank(tuple(blocks), *self.sizes(number), scratch, (0,) * semaphores)

    def program(self, name: str, ranks: Sequence[Rank], channels: Iterable[Channel]) -> Program:
        """Return the program of `ranks`."""
        return Program(
            name=name,
            task=self.task,
            ranks=ranks,
            channels=tuple(channels),
            chunks=self.chunks,
            shards=self.parts if self.task.has_shards else (),
            root=self.root,
            in_place=self.options.in_place,
            out_of_place=self.options.out_of_place,
            protocol=self.options.protocol,
        )
