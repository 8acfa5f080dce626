"""A program for small messages on networks whose ranks do not all reach each other directly: one shot over relays.

In an allreduce along trees, data makes all sends to the root, and then all sends back. Here the whole vector of each
rank goes along a tree to all ranks, and each rank adds up all vectors, in pairs. So data makes half as many sends, but
N times as much of it crosses each cut.

Each tree has its own blocks. A rank inside a path of a tree receives a vector and sends it on in one instruction.

**Invariant.** A block belongs to one path of one tree, and waits only for blocks nearer to its root, until all vectors
are there. Every instruction is one step of MSCCL: it waits for one other block at most, and a sum replaces one of its
operands. In place, the result replaces the own vector, so a rank first copies this to scratch, and sends the copy. A
vector that other blocks send on is not replaced. `interpreter.check` proves each program on symbolic data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from forestcoll.programs.model import Program, Task
from forestcoll.tuning.building import Builder, Held
from forestcoll.tuning.streams import Edges, Path, channel_numbers, paths_of


def relayed_one_shot(trees: Sequence[Edges], pieces: int) -> Program:
    """Return the program of an allreduce in which the vectors of all ranks go to all ranks.

    Args:
        trees: for each rank, the edges of its tree from parent to child, each after the edge to its parent.
        pieces: the number of pieces of the data; a tree sends one after the other.

    Example:
        >>> from forestcoll.tuning.relayed import relayed_one_shot
        >>> program = relayed_one_shot([[(0, 1), (1, 2)], [(1, 0), (1, 2)], [(2, 1), (1, 0)]], pieces=1)
        >>> [len(rank.blocks) for rank in program.ranks]
        [4, 5, 4]
    """
    builder = Builder(Task.ALLREDUCE, len(trees), pieces)
    paths = _Paths(tuple((root, path) for root, edges in enumerate(trees) for path in paths_of(edges)))
    for piece in (range(each, each + 1) for each in range(pieces)):
        held = [{rank: _copied(builder, rank, piece)} for rank in range(len(trees))]
        for (root, path), number in zip(paths.listed, paths.numbers, strict=True):
            _send(builder, held, root, path, number)
        for rank, vectors in enumerate(held):
            total = _sum(builder, rank, vectors, paths)
            builder.append(rank, total.block, (total.place,), (builder.result(rank, piece),))
    return builder.program("relayed")


@dataclass(frozen=True)
class _Paths:
    """The paths of all trees.

    Attributes:
        listed: each path with the root of its tree, after the path that reaches its first rank.
    """

    listed: tuple[tuple[int, Path], ...]

    @cached_property
    def numbers(self) -> list[int]:
        """The number of the channels of each path."""
        return channel_numbers([path for _, path in self.listed])

    @cached_property
    def heads(self) -> frozenset[tuple[int, int]]:
        """The roots of vectors, and the ranks on which a path of them begins, so that a block of its own sends them."""
        return frozenset((root, path[0]) for root, path in self.listed)

    @cached_property
    def sends(self) -> dict[tuple[int, int], int]:
        """For each root and rank, the number of sends that bring the vector of the root to the rank."""
        found: dict[tuple[int, int], int] = {}
        for root, path in self.listed:
            first = found.setdefault((root, path[0]), 0)
            found |= {(root, rank): first + place for place, rank in enumerate(path)}
        return found


_Vectors = dict[int, Held]
"""The vectors in the scratch of a rank, by their roots."""


def _copied(builder: Builder, rank: int, piece: range) -> Held:
    (own, _), copy = builder.current(rank, piece), builder.room(rank, piece)
    return Held(copy, builder.append(rank, "copy", (own,), (copy,)), "copy")


def _send(builder: Builder, held: Sequence[_Vectors], root: int, path: Path, number: int) -> None:
    """Send the vector of a root along a path, over channels with a number."""
    first = held[path[0]][root]
    key, chunks = (root, path[0], path[1]), range(first.place.count)
    for place, rank in enumerate(path):
        sent = (builder.message(number, rank, path[place + 1], len(chunks)),) if place + 1 < len(path) else ()
        if place:
            received, room = builder.message(number, path[place - 1], rank, len(chunks)), builder.room(rank, chunks)
            held[rank][root] = Held(room, builder.append(rank, key, (received,), (room, *sent)), key)
        else:
            builder.append(rank, key, (first.place,), sent, [first.written])


def _sum(builder: Builder, rank: int, vectors: _Vectors, paths: _Paths) -> Held:
    """Let a rank add its own vector to the first one that it receives, and add up all in pairs."""
    received = sorted((root for root in vectors if root != rank), key=lambda root: paths.sends[root, rank])
    summands = [vectors[root] for root in received]
    for place, root in enumerate(received[: max(1, len(received) // 2)]):
        if (root, rank) in paths.heads:  # another block sends the vector on, so a copy is replaced by the sum
            copy = builder.room(rank, range(summands[place].place.count))
            written = builder.append(rank, summands[place].block, (summands[place].place,), (copy,))
            summands[place] = summands[place]._replace(place=copy, written=written)
    summands[0] = builder.sum_of(rank, summands[0], vectors[rank])
    return builder.sum_in_pairs(rank, summands)
