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
from dataclasses import dataclass
from itertools import accumulate, pairwise

from forestcoll.collective import Collective
from forestcoll.program import Buffer, Dependency, Message, Program, Task
from forestcoll.tuning.building import Builder, Held

LANES = 2
"""The number of blocks for each peer and direction, if there are many pieces."""

Ranks = tuple[int, ...]
Parts = Mapping[int, Sequence[range]]
"""For each rank, ranges of chunks in the order in which they are sent."""


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
    made = _Exchange(Task.ALLREDUCE, ranks, 1, _equal(pieces))
    for piece in made.lanes():
        made.exchange(0, groups, {rank: [made.part(0, piece)] for rank in range(ranks)})
    return made.program("one-shot")


def _two_shot(ranks: int, groups: Sequence[Ranks], pieces: int) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, ranks, _cut(pieces))
    for piece in made.lanes():
        parts = {rank: [made.part(rank, piece)] for rank in range(ranks)}
        made.scatter(0, groups, parts)
        made.gather(1, groups, parts)
    return made.program("two-shot")


def _three_level(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, len(grid.across), _cut(pieces))
    for piece in made.lanes():
        parts = {rank: [made.part(place, piece)] for box in grid.boxes for place, rank in enumerate(box)}
        made.scatter(0, grid.boxes, parts, in_scratch=True)
        made.exchange(1, grid.across, parts)
        made.gather(2, grid.boxes, parts)
    return made.program("three-level")


def _four_level(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, ranks, _cut(pieces))
    for piece in made.lanes():
        of_group, of_rank = _parts_of(grid, made, piece)
        made.scatter(0, grid.boxes, of_group)
        made.scatter(1, grid.across, of_rank)
        made.gather(2, grid.across, of_rank)
        made.gather(3, grid.boxes, of_group)
    return made.program("four-level")


def _scattered(ranks: int, groups: Sequence[Ranks], pieces: int) -> Program:
    made = _Exchange(Task.REDUCE_SCATTER, ranks, ranks, _cut(pieces))
    for piece in made.lanes():
        made.scatter(0, groups, {rank: [made.part(rank, piece)] for rank in range(ranks)})
    return made.program("one-shot")


def _scattered_twice(ranks: int, grid: Grid, pieces: int) -> Program:
    made = _Exchange(Task.REDUCE_SCATTER, ranks, ranks, _cut(pieces))
    for piece in made.lanes():
        of_group, of_rank = _parts_of(grid, made, piece)
        made.scatter(0, grid.boxes, of_group)
        made.scatter(1, grid.across, of_rank)
    return made.program("two-level-exchange")


def _parts_of(grid: Grid, made: "_Exchange", piece: range) -> tuple[Parts, Parts]:
    """Return the chunks of each rank after the first scatter, those of other boxes first, and after the second."""
    of_group = {}
    for group in grid.across:
        for box, rank in enumerate(group):
            of_group[rank] = [made.part(each, piece) for each in (*group[box + 1 :], *group[: box + 1])]
    return of_group, {rank: [made.part(rank, piece)] for rank in of_group}


def _equal(pieces: int) -> list[range]:
    """Return pieces of one chunk each.

    An exchange needs them where the sum replaces the data that is sent: a rank receives nothing before it has sent, and
    longer messages than a channel holds would wait for each other.
    """
    return [range(piece, piece + 1) for piece in range(pieces)]


_LEAST_TAPERED = 8
"""The least number of pieces of which the first ones and the last ones are short."""


def _cut(pieces: int) -> list[range]:
    """Return the chunks of each piece of a part of the data.

    The first and the last of many pieces are each cut into three, the shortest one outside. So the data fills all ranks
    early, and blocks that work at the same time have their overheads at different times.
    """
    lengths = [1] * pieces if pieces < _LEAST_TAPERED else [1, 1, 2, *[4] * (pieces - 2), 2, 1, 1]
    ends = list(accumulate(lengths, initial=0))
    return [range(begin, end) for begin, end in pairwise(ends)]


class _Exchange(Builder):
    """Collects the instructions of a program, stage by stage.

    A block belongs to a rank, a stage, a peer, a direction and a lane. Pieces use lanes in turn, so that one block has
    its overhead while another one sends.

    Attributes:
        lane: the lane of the instructions that are added next.
    """

    def __init__(self, task: Task, ranks: int, parts: int, pieces: Sequence[range]) -> None:
        """Begin a program in which M has `parts` parts, each with these pieces."""
        self._pieces, self.lane = pieces, 0
        super().__init__(task, ranks, parts * self._pieces[-1].stop)

    def lanes(self) -> Iterator[range]:
        """Yield the pieces of a part, each with its lane."""
        for number, piece in enumerate(self._pieces):
            self.lane = number % LANES if len(self._pieces) > _LEAST_TAPERED else 0
            yield piece

    def part(self, number: int, piece: range) -> range:
        """Return the chunks of a piece of a part of M."""
        begin = number * self._pieces[-1].stop
        return range(begin + piece.start, begin + piece.stop)

    def scatter(self, stage: int, groups: Sequence[Ranks], parts: Parts, *, in_scratch: bool = False) -> None:
        """Send each member its chunks, and add them up there; in scratch if their sums are no results yet."""
        for group in groups:
            for order in range(len(parts[group[0]])):
                for owner in group:
                    chunk = parts[owner][order]
                    others = [member for member in group if member != owner]
                    for other in others:
                        self._send(stage, other, owner, chunk)
                    self._add_up(stage, owner, others, chunk, in_scratch=in_scratch)

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

    def _send(self, stage: int, source: int, target: int, chunk: range) -> Dependency:
        span, after = self.current(source, chunk)
        message = self._message(stage, source, target, chunk)
        return self.append(source, (stage, target, False, self.lane), (span,), (message,), after)

    def _receive(self, stage: int, rank: int, peer: int, chunk: range) -> None:
        message, place = self._message(stage, peer, rank, chunk), self.result(rank, chunk)
        written = self.append(rank, (stage, peer, True, self.lane), (message,), (place,), [])
        self.held[rank, chunk.start] = place, written

    def _add_up(  # noqa: PLR0913 (who adds up what, when, and where)
        self,
        stage: int,
        rank: int,
        others: Sequence[int],
        chunk: range,
        sent: Sequence[Dependency] = (),
        *,
        in_scratch: bool = False,
    ) -> None:
        """Receive one message from each of `others`, and add them up in pairs, with the own data in the first one.

        Args:
            stage: the number of the stage.
            rank: the rank that receives.
            others: the ranks that send to it.
            chunk: the chunks that are added up.
            sent: sends of the own data, which must be done before the sum replaces the data, unless that is in scratch.
            in_scratch: whether the sum is in scratch.
        """
        own, after = self.current(rank, chunk)
        sums: list[Held] = []
        for place, other in enumerate(others):
            key = stage, other, True, self.lane
            message = self._message(stage, other, rank, chunk)
            target = self.room(rank, chunk) if place or in_scratch else self.sum_place(rank, chunk)
            sources = (message, own) if not place else (message,)
            waits = [] if place else after if own.buffer is Buffer.SCRATCH else [*after, *sent]
            sums.append(Held(target, self.append(rank, key, sources, (target,), waits), key))
        total = self.sum_in_pairs(rank, sums)
        self.held[rank, chunk.start] = total.place, total.written

    def _message(self, stage: int, source: int, target: int, chunk: range) -> Message:
        return self.message(stage * LANES + self.lane, source, target, len(chunk))
