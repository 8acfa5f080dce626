"""Programs for small messages: direct exchanges in groups of ranks, which add up many messages in few steps.

A tree that reduces adds up one message after the other. An exchange receives all of them at the same time, and then
adds them up in pairs: for k messages in about log2(k) steps instead of k. Its stages are:

- *scatter*: in each group, every member sends each other member that member's part, which the receiver adds up;
- *exchange*: in each group, every member sends all that it has to all others, and each adds up everything;
- *gather*: in each group, every member sends its part to all others.

| collective | stages |
| --- | --- |
| allreduce, one shot | exchange over all ranks |
| allreduce, two shots | scatter and gather over all ranks |
| allreduce, three levels | scatter in each box, exchange over the boxes, gather in each box |
| allreduce, four levels | scatter in each box, scatter over the boxes, gather over the boxes, gather in each box |
| reduce-scatter, one shot | scatter over all ranks |
| reduce-scatter, two levels | scatter in each box, scatter over the boxes |

An allgather needs no sums, and its exchanges are the schedules `direct` and `two-level`. An exchange may let several
ranks compute the same sum, so it is a program and no schedule of trees.

**Invariant.** After each stage, every rank holds the sum, over the ranks that it has heard from, of each chunk of its
current parts. `interpreter.check` proves each program on symbolic data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forestcoll.collective import Collective
from forestcoll.program import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Message,
    Program,
    Rank,
    Span,
    Task,
)

Ranks = tuple[int, ...]
Parts = Mapping[int, Sequence[int]]
"""For each rank, chunks in the order in which they are sent."""


@dataclass(frozen=True)
class Grid:
    """The ranks in boxes of equal sizes.

    Attributes:
        boxes: for each box its ranks; the ranks at the same place of all boxes form a group, too.
    """

    boxes: tuple[Ranks, ...]

    @property
    def across(self) -> tuple[Ranks, ...]:
        """The groups of ranks at the same place of each box."""
        return tuple(zip(*self.boxes, strict=True))


def exchanges(collective: Collective, ranks: int, grid: Grid | None) -> Iterator[tuple[str, Callable[[int], Program]]]:
    """Yield the name of each exchange of a collective, and a function from the number of pieces to its program.

    Args:
        collective: an allreduce or a reduce-scatter; other collectives have no exchanges.
        ranks: the number of ranks.
        grid: the boxes, if there are several boxes of equal sizes, of two ranks or more.
    """
    whole = (tuple(range(ranks)),)
    if collective is Collective.ALLREDUCE:
        yield "one-shot", lambda pieces: _one_shot(ranks, whole, pieces)
        yield "two-shot", lambda pieces: _two_shot(ranks, whole, pieces)
        if grid is not None:
            yield "three-level", lambda pieces: _three_level(ranks, grid, pieces)
            if len(grid.boxes) > 2:
                yield "four-level", lambda pieces: _four_level(ranks, grid, pieces)
    elif collective is Collective.REDUCE_SCATTER:
        yield "one-shot", lambda pieces: _scattered(ranks, whole, pieces)
        if grid is not None:
            yield "two-level-exchange", lambda pieces: _scattered_twice(ranks, grid, pieces)


def _one_shot(ranks: int, groups: Sequence[Ranks], pieces: int) -> Program:
    made = _Builder(Task.ALLREDUCE, ranks, 1, pieces)
    for piece in range(pieces):
        made.exchange(0, groups, {rank: [piece] for rank in range(ranks)})
    return made.program("one-shot")


def _two_shot(ranks: int, groups: Sequence[Ranks], pieces: int) -> Program:
    made = _Builder(Task.ALLREDUCE, ranks, ranks, pieces)
    for piece in range(pieces):
        parts = {rank: [rank * pieces + piece] for rank in range(ranks)}
        made.scatter(0, groups, parts)
        made.gather(1, groups, parts)
    return made.program("two-shot")


def _three_level(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Builder(Task.ALLREDUCE, ranks, len(grid.across), pieces)
    for piece in range(pieces):
        parts = {rank: [place * pieces + piece] for box in grid.boxes for place, rank in enumerate(box)}
        made.scatter(0, grid.boxes, parts)
        made.exchange(1, grid.across, parts)
        made.gather(2, grid.boxes, parts)
    return made.program("three-level")


def _four_level(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Builder(Task.ALLREDUCE, ranks, ranks, pieces)
    for piece in range(pieces):
        of_group, of_rank = _parts_of(grid, pieces, piece)
        made.scatter(0, grid.boxes, of_group)
        made.scatter(1, grid.across, of_rank)
        made.gather(2, grid.across, of_rank)
        made.gather(3, grid.boxes, of_group)
    return made.program("four-level")


def _scattered(ranks: int, groups: Sequence[Ranks], pieces: int) -> Program:
    made = _Builder(Task.REDUCE_SCATTER, ranks, ranks, pieces)
    for piece in range(pieces):
        made.scatter(0, groups, {rank: [rank * pieces + piece] for rank in range(ranks)})
    return made.program("one-shot")


def _scattered_twice(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Builder(Task.REDUCE_SCATTER, ranks, ranks, pieces)
    for piece in range(pieces):
        of_group, of_rank = _parts_of(grid, pieces, piece)
        made.scatter(0, grid.boxes, of_group)
        made.scatter(1, grid.across, of_rank)
    return made.program("two-level-exchange")


def _parts_of(grid: Grid, pieces: int, piece: int) -> tuple[Parts, Parts]:
    """Return the chunks of each rank after the first scatter, those of other boxes first, and after the second."""
    of_group = {}
    for group in grid.across:
        for box, rank in enumerate(group):
            of_group[rank] = [each * pieces + piece for each in (*group[box + 1 :], *group[: box + 1])]
    return of_group, {rank: [rank * pieces + piece] for rank in of_group}


@dataclass
class _Builder:
    """Collects the instructions of a program, stage by stage.

    A block belongs to a rank, a stage, a peer and a direction. `held` has, for each rank and chunk, the place of its
    current sum and the instruction that wrote it; without an entry, the sum is the input of the rank.
    """

    task: Task
    ranks: int
    parts: int
    pieces: int
    blocks: list[dict[tuple[int, int, bool], int]] = field(init=False)
    listed: list[list[list[Instruction]]] = field(init=False)
    scratch: list[int] = field(init=False)
    channels: dict[Channel, int] = field(default_factory=dict)
    held: dict[tuple[int, int], tuple[Span, Dependency]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = [{} for _ in range(self.ranks)]
        self.listed = [[] for _ in range(self.ranks)]
        self.scratch = [0] * self.ranks

    def scatter(self, stage: int, groups: Sequence[Ranks], parts: Parts) -> None:
        """Send each member its chunks, and add them up there."""
        for group in groups:
            for order in range(len(parts[group[0]])):
                for owner in group:
                    chunk = parts[owner][order]
                    others = [member for member in group if member != owner]
                    for other in others:
                        self._send(stage, other, owner, chunk)
                    self._add_up(stage, owner, others, chunk, [])

    def exchange(self, stage: int, groups: Sequence[Ranks], parts: Parts) -> None:
        """Let each member send its chunks to all others, which hold the same ones, and add them up everywhere."""
        for group in groups:
            for order in range(len(parts[group[0]])):
                sent: dict[int, list[Dependency]] = {member: [] for member in group}
                for member in group:
                    for other in group:
                        if other != member:
                            sent[member].append(self._send(stage, member, other, parts[member][order]))
                for member in group:
                    others = [other for other in group if other != member]
                    self._add_up(stage, member, others, parts[member][order], sent[member])

    def gather(self, stage: int, groups: Sequence[Ranks], parts: Parts) -> None:
        """Let each member send its chunks to all others."""
        for group in groups:
            for order in range(len(parts[group[0]])):
                for owner in group:
                    chunk = parts[owner][order]
                    for other in group:
                        if other != owner:
                            self._send(stage, owner, other, chunk)
                            self._receive(stage, other, owner, chunk)

    def program(self, name: str) -> Program:
        """Return the program."""
        chunks = self.parts * self.pieces
        own = chunks // self.ranks if self.task is Task.REDUCE_SCATTER else chunks
        made = (
            Rank(tuple(Block(tuple(block)) for block in blocks), chunks, own, self.scratch[rank])
            for rank, blocks in enumerate(self.listed)
        )
        return Program(
            name=name,
            task=self.task,
            ranks=tuple(made),
            channels=tuple(self.channels),
            chunks=chunks,
            shards=(own,) * self.ranks if self.task.has_shards else (),
        )

    def _send(self, stage: int, source: int, target: int, chunk: int) -> Dependency:
        span, after = self._current(source, chunk)
        message = Message(self._channel(stage, source, target), 1)
        return self._append(source, (stage, target, False), (span,), (message,), after)

    def _receive(self, stage: int, rank: int, peer: int, chunk: int) -> None:
        message, place = Message(self._channel(stage, peer, rank), 1), self._result(rank, chunk)
        written = self._append(rank, (stage, peer, True), (message,), (place,), [])
        self.held[rank, chunk] = place, written

    def _add_up(self, stage: int, rank: int, others: Sequence[int], chunk: int, sent: Sequence[Dependency]) -> None:
        """Receive one message from each of `others`, and add them up in pairs, with the own data in the first one.

        Args:
            stage: the number of the stage.
            rank: the rank that receives.
            others: the ranks that send to it.
            chunk: the chunk that is added up.
            sent: sends of the own data, which must be done before the sum replaces the data.
        """
        own, after = self._current(rank, chunk)
        sums: list[tuple[Span, Dependency, tuple[int, int, bool]]] = []
        for place, other in enumerate(others):
            key = stage, other, True
            message = Message(self._channel(stage, other, rank), 1)
            target = self._sum_place(rank, chunk) if not place else self._room(rank)
            sources = (message, own) if not place else (message,)
            waits = [*after, *sent] if not place else []
            sums.append((target, self._append(rank, key, sources, (target,), waits), key))
        while len(sums) > 1:
            half = (len(sums) + 1) // 2
            for place in range(len(sums) - half):
                (one, _, key), (other_span, written, _) = sums[place], sums[half + place]
                done = self._append(rank, key, (one, other_span), (one,), [written])
                sums[place] = one, done, key
            sums = sums[:half]
        self.held[rank, chunk] = sums[0][0], sums[0][1]

    def _current(self, rank: int, chunk: int) -> tuple[Span, list[Dependency]]:
        if (rank, chunk) not in self.held:
            return Span(rank, Buffer.INPUT, chunk, 1), []
        span, written = self.held[rank, chunk]
        return span, [written]

    def _sum_place(self, rank: int, chunk: int) -> Span:
        """Return the place of a sum: in the output, or in scratch if the output has no space for the chunk."""
        own = self.parts * self.pieces // self.ranks
        if self.task is Task.REDUCE_SCATTER and chunk // own != rank:
            return self._room(rank)
        return self._result(rank, chunk)

    def _result(self, rank: int, chunk: int) -> Span:
        shift = rank * (self.parts * self.pieces // self.ranks) if self.task is Task.REDUCE_SCATTER else 0
        return Span(rank, Buffer.OUTPUT, chunk - shift, 1)

    def _room(self, rank: int) -> Span:
        self.scratch[rank] += 1
        return Span(rank, Buffer.SCRATCH, self.scratch[rank] - 1, 1)

    def _channel(self, stage: int, source: int, target: int) -> int:
        return self.channels.setdefault(Channel(ChannelKind.FIFO, source, target, stage), len(self.channels))

    def _append(
        self,
        rank: int,
        key: tuple[int, int, bool],
        sources: Sequence[Span | Message],
        targets: Sequence[Span | Message],
        after: Sequence[Dependency],
    ) -> Dependency:
        """Add an instruction to the block `key` of `rank`, after instructions of other blocks."""
        number = self.blocks[rank].setdefault(key, len(self.blocks[rank]))
        if number == len(self.listed[rank]):
            self.listed[rank].append([])
        block = self.listed[rank][number]
        waits = tuple(each for each in after if each.block != number)
        block.append(Instruction(sources=tuple(sources), targets=tuple(targets), after=waits))
        return Dependency(number, len(block) - 1)
