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

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

from forestcoll.demand.collective import Collective
from forestcoll.programs.model import Buffer, Dependency, Message, Program, Task
from forestcoll.tuning.building import Builder, Held

LANES = 2
"""The number of blocks for each peer and direction, if there are many pieces."""

Ranks = tuple[int, ...]


@dataclass(frozen=True)
class BoxGrid:
    """The ranks in boxes of equal sizes.

    Attributes:
        boxes: for each box its ranks; the ranks at the same place of all boxes form a group, too.
    """

    boxes: tuple[Ranks, ...]

    @property
    def across(self) -> tuple[Ranks, ...]:
        """The groups of ranks at the same place of each box."""
        return tuple(zip(*self.boxes, strict=True))


class Make(Protocol):
    """Makes the program of an exchange."""

    def __call__(self, pieces: int, *, few_blocks: bool = False) -> Program:
        """Return the program in a number of pieces; with `few_blocks`, blocks send and receive few messages each."""


def exchanges(collective: Collective, ranks: int, grid: BoxGrid | None) -> Iterator[tuple[str, Make]]:
    """Yield the name of each exchange of a collective, and a function that makes its programs.

    Args:
        collective: an allreduce or a reduce-scatter; other collectives have no exchanges.
        ranks: the number of ranks.
        grid: the boxes, if there are several boxes of equal sizes, of two ranks or more.
    """
    whole = (tuple(range(ranks)),)
    if collective is Collective.ALLREDUCE:
        yield "one-shot", partial(_one_shot, ranks, whole)
        yield "two-shot", partial(_two_shot, ranks, whole)
        if grid is not None:
            yield "three-level", partial(_three_level, ranks, grid)
            if len(grid.boxes) > 2:
                yield "four-level", partial(_four_level, ranks, grid)
    elif collective is Collective.REDUCE_SCATTER:
        yield "one-shot", partial(_scattered, ranks, whole)
        if grid is not None:
            yield "two-level-exchange", partial(_scattered_twice, ranks, grid)


def _one_shot(ranks: int, groups: Sequence[Ranks], pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, 1, _equal(pieces), few_blocks=few_blocks)
    made.exchange(0, groups, made.parts({rank: [0] for rank in range(ranks)}))
    return made.program("one-shot")


def _two_shot(ranks: int, groups: Sequence[Ranks], pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, ranks, _cut(pieces), few_blocks=few_blocks)
    parts = made.parts({rank: [rank] for rank in range(ranks)})
    made.scatter(0, groups, parts)
    made.gather(1, groups, parts)
    return made.program("two-shot")


def _three_level(ranks: int, grid: BoxGrid, pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, len(grid.across), _cut(pieces), few_blocks=few_blocks)
    parts = made.parts({rank: [place] for box in grid.boxes for place, rank in enumerate(box)})
    made.scatter(0, grid.boxes, parts, in_scratch=True)
    made.exchange(1, grid.across, parts)
    made.gather(2, grid.boxes, parts)
    return made.program("three-level")


def _four_level(ranks: int, grid: BoxGrid, pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.ALLREDUCE, ranks, ranks, _cut(pieces), few_blocks=few_blocks)
    of_group, of_rank = _parts_of(grid, made)
    made.scatter(0, grid.boxes, of_group)
    made.scatter(1, grid.across, of_rank)
    made.gather(2, grid.across, of_rank)
    made.gather(3, grid.boxes, of_group)
    return made.program("four-level")


def _scattered(ranks: int, groups: Sequence[Ranks], pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.REDUCE_SCATTER, ranks, ranks, _cut(pieces), few_blocks=few_blocks)
    made.scatter(0, groups, made.parts({rank: [rank] for rank in range(ranks)}))
    return made.program("one-shot")


def _scattered_twice(ranks: int, grid: BoxGrid, pieces: int, *, few_blocks: bool = False) -> Program:
    made = _Exchange(Task.REDUCE_SCATTER, ranks, ranks, _cut(pieces), few_blocks=few_blocks)
    of_group, of_rank = _parts_of(grid, made)
    made.scatter(0, grid.boxes, of_group)
    made.scatter(1, grid.across, of_rank)
    return made.program("two-level-exchange")


def _parts_of(grid: BoxGrid, made: "_Exchange") -> tuple["Parts", "Parts"]:
    """Return the parts of each rank after the first scatter, those of other boxes first, and after the second."""
    of_group = {rank: (*group[box + 1 :], *group[: box + 1]) for group in grid.across for box, rank in enumerate(group)}
    return made.parts(of_group), made.parts({rank: [rank] for rank in of_group})


def _equal(pieces: int) -> list[range]:
    """Return pieces of one chunk each.

    An exchange needs them where the sum replaces the data that is sent: a rank receives nothing before it has sent, and
    longer messages than a channel holds would wait for each other.
    """
    return [range(piece, piece + 1) for piece in range(pieces)]


_MOST_SHARED = 2
"""The most messages to a peer in a stage with which one block sends and receives; a channel holds so many."""

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


class _Part(NamedTuple):
    """A piece of a part of M.

    Attributes:
        chunks: its chunks.
        piece: its number among the pieces.
        messages: the number of pieces of all parts of its rank, which a member sends to another one in a stage.
    """

    chunks: range
    piece: int
    messages: int


Parts = Mapping[int, Sequence[_Part]]
"""For each rank, parts in pieces, in the order in which they are sent."""


class _Exchange(Builder):
    """Collects the instructions of a program, stage by stage.

    A block belongs to a rank, a stage, a peer, a direction and a lane. Pieces use lanes in turn, so that one block has
    its overhead while another one sends.

    Few blocks are possible with one or two messages to each peer: in each stage, a block first sends them to a peer,
    and then receives from it. A channel holds both, so no send waits. With one message, this block works in all stages.
    """

    def __init__(self, task: Task, ranks: int, parts: int, pieces: Sequence[range], *, few_blocks: bool) -> None:
        """Begin a program in which M has `parts` parts, each with these pieces."""
        self._pieces = pieces
        self._few_blocks = few_blocks
        super().__init__(task, ranks, parts * self._pieces[-1].stop)

    def parts(self, numbers: Mapping[int, Sequence[int]]) -> Parts:
        """Return the given parts of each rank in pieces: the first pieces of all its parts, then the second ones."""
        length = self._pieces[-1].stop
        return {
            rank: [
                _Part(
                    range(number * length + piece.start, number * length + piece.stop),
                    turn,
                    len(self._pieces) * len(listed),
                )
                for turn, piece in enumerate(self._pieces)
                for number in listed
            ]
            for rank, listed in numbers.items()
        }

    def scatter(self, stage: int, groups: Sequence[Ranks], parts: Parts, *, in_scratch: bool = False) -> None:
        """Send each member its parts, and add them up there; in scratch if their sums are no results yet."""
        for group in groups:
            for owner, each in _in_turn(group, parts):
                for other in _others(group, owner):
                    self._send(stage, other, owner, each)
            for owner, each in _in_turn(group, parts):
                self._add_up(stage, owner, _others(group, owner), each, None if in_scratch else ())

    def exchange(self, stage: int, groups: Sequence[Ranks], parts: Parts) -> None:
        """Let each member send its parts to all others, which hold the same ones, and add them up everywhere."""
        for group in groups:
            sent: dict[tuple[int, int], list[Dependency]] = {}
            for member, each in _in_turn(group, parts):
                others = _others(group, member)
                sent[member, each.chunks.start] = [self._send(stage, member, other, each) for other in others]
            for member, each in _in_turn(group, parts):
                self._add_up(stage, member, _others(group, member), each, sent[member, each.chunks.start])

    def gather(self, stage: int, groups: Sequence[Ranks], parts: Parts) -> None:
        """Let each member send its parts to all others."""
        for group in groups:
            for owner, each in _in_turn(group, parts):
                for other in _others(group, owner):
                    self._send(stage, owner, other, each)
            for owner, each in _in_turn(group, parts):
                for other in _others(group, owner):
                    self._receive(stage, other, owner, each)

    def _send(self, stage: int, source: int, target: int, part: _Part) -> Dependency:
        span, after = self.current(source, part.chunks)
        message = self._message(stage, source, target, part)
        return self.append(source, self._block(stage, target, part, sends=True), (span,), (message,), after)

    def _receive(self, stage: int, rank: int, peer: int, part: _Part) -> None:
        message, place = self._message(stage, peer, rank, part), self.result(rank, part.chunks)
        written = self.append(rank, self._block(stage, peer, part, sends=False), (message,), (place,), [])
        self.held[rank, part.chunks.start] = place, written

    def _add_up(
        self, stage: int, rank: int, others: Sequence[int], part: _Part, sent: Sequence[Dependency] | None = ()
    ) -> None:
        """Receive one message from each of `others`, and add them up in pairs, with the own data in the first one.

        Args:
            stage: the number of the stage.
            rank: the rank that receives.
            others: the ranks that send to it.
            part: what is added up.
            sent: sends of the own data, which must be done before the sum replaces it; None if the sum is in scratch.
        """
        chunk = part.chunks
        own, after = self.current(rank, chunk)
        sums: list[Held] = []
        for place, other in enumerate(others):
            key = self._block(stage, other, part, sends=False)
            message = self._message(stage, other, rank, part)
            target = self.room(rank, chunk) if place or sent is None else self.sum_place(rank, chunk)
            sources = (message, own) if not place else (message,)
            waits = [] if place else after if own.buffer is Buffer.SCRATCH else [*after, *(sent or ())]
            sums.append(Held(target, self.append(rank, key, sources, (target,), waits), key))
        total = self.sum_in_pairs(rank, sums)
        self.held[rank, chunk.start] = total.place, total.written

    def _block(self, stage: int, peer: int, part: _Part, *, sends: bool) -> Hashable:
        """Return the key of the block that sends a part to a peer, or receives it."""
        if self._few_blocks and part.messages <= _MOST_SHARED:
            return self._stage(stage, part), peer
        return stage, peer, sends, self._lane(part)

    def _message(self, stage: int, source: int, target: int, part: _Part) -> Message:
        number = self._stage(stage, part) * LANES + self._lane(part)
        return self.message(number, source, target, len(part.chunks))

    def _stage(self, stage: int, part: _Part) -> int:
        """Return the number of a stage; 0 for all stages if a block works in all of them."""
        return 0 if self._few_blocks and part.messages == 1 else stage

    def _lane(self, part: _Part) -> int:
        return part.piece % LANES if len(self._pieces) > _LEAST_TAPERED else 0


def _others(group: Ranks, member: int) -> list[int]:
    return [each for each in group if each != member]


def _in_turn(group: Ranks, parts: Parts) -> Iterator[tuple[int, _Part]]:
    """Yield the first part of each member, then the second ones, and so on."""
    for of_all in zip(*(parts[member] for member in group), strict=True):
        yield from zip(group, of_all, strict=True)
