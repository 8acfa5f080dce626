"""Flows as programs whose blocks write into the memory of other ranks and signal, as in MSCCL++.

Each rank has *jobs* (`jobs`) for the cells (`cells`) in whose trees it is, and `seats` gives each job a block of the
rank. Two blocks of two ranks are joined by channels. `puts` says what a job does.

**Why it is correct.** A rank reads only data that the same block of the rank wrote, that another block wrote which then
let the reader begin by a semaphore, or that another rank wrote whose signal it waited for. No rank uses memory before a
rank writes there: space for sums has one writer, and the chunks of a cell in an output are written once, by one rank.
Where the first child of a root writes into the output of the root, the root reads this before it writes the result
there. (In an allreduce the root has all sums before the output is written, so all ranks have read their contributions,
which may lie there.) A rank starts to write into the memory of another, or lets a switch read or write there, only
after that one has signalled that it has started, at the start of each block. Before a rank ends, it has waited for all
data that comes to it, and for the helpers of PORT channels to do the work that it gave them. If a switch reads its data
for a sum, it gets the result later, in the same cell.

A sum that a switch stores on the way to another box lies where the same cell has its result later. Threads that read
what a switch stored, or let a switch read what they stored, are ordered by more than a meeting of the block: by a
semaphore, or by the helper of a PORT channel.

Packets of consecutive calls go to alternate halves of the scratch buffer. In an allgather or allreduce, a rank that
ends has data of all ranks, so all of them have started, and are at most one call behind. The root of a broadcast hears
from no rank, so with packets, too, the ranks of a broadcast signal that they have started.

A channel counts signals and does not name them. So all signals of a channel are sent and awaited in one order: both
blocks do the jobs of a channel by their levels and cells, and the `Tag` of a channel states by how much the levels at
its two ends differ.

**The order of a block.** The jobs that only wait for the end of a cell come last. Both of them and of the others, jobs
that move the same number of chunks are one loop: each round does all of them once. Loops with more chunks come first.
Within a loop, jobs are in the order of their levels, and those of a level in the order of the cells. The level of a job
grows with the number of sends that its data has made before. So the jobs of a block wait little for each other. In the
order of the cells alone, a round of a block would often wait for a chain of rounds of other blocks.

**Why it terminates.** Consider the first job that is not done, by its chunks, its round, its level and its cell; those
that only wait for the end of a cell are left out. Its block has done all jobs before it, and all jobs that it waits for
have the same chunks, the same round and a lower level. No rank waits for the last jobs.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from forestcoll.base.errors import NoSolutionError
from forestcoll.programs.lowering.cells import cells_of
from forestcoll.programs.lowering.fitting import Excess
from forestcoll.programs.lowering.jobs import Job, JobMaker
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.options import COMFORTABLE_BLOCKS
from forestcoll.programs.lowering.puts import Neighbours, Puts, Rooms, operations
from forestcoll.programs.lowering.rank_trees import RankTree
from forestcoll.programs.lowering.seats import Blocks, End, Tag
from forestcoll.programs.model import Block, Channel, Instruction, Loop, Program, Protocol, Task
from forestcoll.programs.model.limits import Limits


def one_sided(
    name: str, layout: DataLayout, flows: Sequence[RankTree], limits: Limits, boxes: Sequence[Hashable]
) -> Program | Excess:
    """Return the program that does `flows`, or the limit that it exceeds.

    Args:
        name: the name of the program.
        layout: where the data lies; its pieces are the rounds of loops.
        flows: the flows, each with exactly the pieces of the layout.
        limits: the limits of the target; `steps` counts operations, and `nop` is one.
        boxes: the box of each rank: MEMORY channels join ranks of the same box, PORT channels the others.

    Raises:
        NoSolutionError: packets are requested in loops, or for a collective whose ranks have no space for sums.
    """
    packets = layout.options.protocol is Protocol.LL
    _check_packets(layout, packets=packets)
    cells = cells_of(flows, layout, boxes)
    groups: dict[tuple[int, ...], int] = {}
    rooms = Rooms.of(cells, layout, tuple(boxes))
    puts = Puts(layout, Neighbours(tuple(boxes)), rooms, lambda ranks: groups.setdefault(ranks, len(groups)))
    kind, most = puts.neighbours.kind, layout.options.children
    maker = JobMaker(len(boxes), kind, most, limits.channels_of_block, packets)
    jobs = [job for place, cell in enumerate(cells) for job in maker.jobs(cell, place)]
    placed = _placed(puts, jobs, limits)
    if isinstance(placed, Excess):
        return placed
    writer = _Writer(puts, placed, _Channels(puts.neighbours))
    blocks = [[writer.block(rank, number) for number in range(placed.count(rank))] for rank in range(len(boxes))]
    semaphores = Counter(job.rank for job in jobs if job.semaphore is not None)
    ranks = tuple(layout.rank(rank, each, puts.rooms.sizes[rank], semaphores[rank]) for rank, each in enumerate(blocks))
    program = layout.program(name, ranks, writer.channels.listed)
    return replace(program, slots=None, groups=tuple(groups))


def _check_packets(layout: DataLayout, *, packets: bool) -> None:
    if packets and layout.task in {Task.REDUCE, Task.REDUCE_SCATTER}:
        raise NoSolutionError(f"packets (LL) leave no room for the sums of a {layout.task.value}; use Simple")
    if packets and layout.options.pieces > 1:
        raise NoSolutionError("packets (LL) cannot go in pieces; use 1")


def _placed(puts: Puts, jobs: Sequence[Job], limits: Limits) -> Blocks | Excess:
    """Give jobs blocks: as many as requested; by default `COMFORTABLE_BLOCKS`, or all if the jobs need them."""
    wanted = puts.layout.options.blocks

    def operations_of(job: Job) -> int:
        return operations(puts.part(job, lambda _source, _target: 0))

    at_end = next((operations_of(job) for job in jobs if job.ends and job.spreads), 0)  # all have as many

    def steps(job: Job) -> int:
        return (at_end if job.ends and job.spreads else operations_of(job)) + (job.cell.rounds > 1)

    numbers = (COMFORTABLE_BLOCKS, limits.blocks) if wanted is None else (min(wanted, limits.blocks or wanted),)
    for most in numbers:
        blocks = Blocks(len(puts.layout.parts), limits, puts.neighbours.kind, steps)
        excess = blocks.place(jobs, most)
        if excess is None:
            break
    return excess or blocks


class _Channels:
    """The channels of a program: two blocks of two ranks are joined by one in each direction, with the same number."""

    def __init__(self, neighbours: Neighbours) -> None:
        self.listed: dict[Channel, int] = {}
        self._known: dict[tuple[End, End], int] = {}
        self._neighbours = neighbours
        self._numbers: defaultdict[tuple[int, int], dict[tuple[int, int, Tag], int]] = defaultdict(dict)

    def between(self, source: End, target: End) -> int:
        """Return the channel from one block to another."""
        key = source, target
        if key not in self._known:
            self._known[key] = self._new(source, target)
        return self._known[key]

    def _new(self, source: End, target: End) -> int:
        low, high = sorted((source, target))
        pairs = self._numbers[low.rank, high.rank]
        number = pairs.setdefault((low.block, high.block, low.tag), len(pairs))
        channel = Channel(self._neighbours.kind(source.rank, target.rank), source.rank, target.rank, number)
        return self.listed.setdefault(channel, len(self.listed))


@dataclass(frozen=True)
class _Writer:
    """Writes the blocks of all ranks."""

    puts: Puts
    blocks: Blocks
    channels: _Channels

    def block(self, rank: int, number: int) -> Block:
        """Return block `number` of a rank, and add the channels that it uses to `channels`."""
        jobs = self.blocks.jobs(rank, number)

        def to(end: End) -> int:
            return self.channels.between(End(rank, number, end.tag), end)

        def back(end: End) -> int:
            return self.channels.between(end, End(rank, number, end.tag))

        def part(job: Job) -> list[Instruction]:
            def channel(source: int, target: int) -> int:
                return to(self.blocks.target(job, target)) if source == rank else back(self.blocks.source(job, source))

            return self.puts.part(job, channel)

        writing = sorted({self.blocks.source(job, other) for job in jobs for other in job.hears})
        written = sorted({self.blocks.target(job, other) for job in jobs for other in job.tells})
        listed: list[Instruction] = []
        if not self.puts.packets or self.puts.layout.task.has_root:
            listed += _greeting(tuple(map(to, writing)), tuple(map(back, written)))
        loops: list[Loop] = []
        for rounds, together in _rows(jobs):
            row = [each for job in together for each in part(job)]
            if rounds > 1 and row:
                loops.append(Loop(len(listed), len(row), rounds))
            for turn in range(rounds):
                listed += [_in_round(each, turn) for each in row]
        ports = [to(end) for end in written if self.puts.neighbours.port(rank, end.rank)]
        if ports:
            listed.append(Instruction(flushes=tuple(ports)))
        return Block(tuple(listed), tuple(loops))


def _rows(jobs: Sequence[Job]) -> Iterator[tuple[int, list[Job]]]:
    """Yield jobs that a block does in turn in each round, with their rounds, in the order of the block."""

    def key(job: Job) -> tuple[bool, int]:
        return job.ends, -job.cell.count if job.cell.rounds > 1 else 0

    for _, together in groupby(sorted(jobs, key=lambda job: (key(job), job.level, job.place)), key):
        listed = list(together)
        yield listed[0].cell.rounds, listed


def _greeting(writing: tuple[int, ...], written: tuple[int, ...]) -> Iterator[Instruction]:
    """Yield the start of a block: signal to all blocks that access memory here, then wait for all whose it accesses."""
    if writing:
        yield Instruction(signals=writing, relaxed=True, meets=False)
    if written:
        yield Instruction(waits=written, relaxed=True, meets=False)
    yield Instruction()


def _in_round(instruction: Instruction, turn: int) -> Instruction:
    """Return the instruction of round number `turn`, given the instruction of the first round."""
    return instruction.moved(turn) if turn and instruction.sources else instruction
