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

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forestcoll.program import Dependency, Program, Span, Task
from forestcoll.tuning.building import Builder
from forestcoll.tuning.streams import Edges, Path, channel_numbers, paths_of


class _Held(NamedTuple):
    """A vector or a sum on a rank.

    Attributes:
        place: its place.
        written: the instruction that wrote it.
        block: the key of the block of this instruction.
        sends: the number of sends that it has made.
    """

    place: Span
    written: Dependency
    block: Hashable
    sends: int


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
    paths = [(root, path) for root, edges in enumerate(trees) for path in paths_of(edges)]
    numbers = channel_numbers([path for _, path in paths])
    for piece in (range(each, each + 1) for each in range(pieces)):
        moved = _Piece.of(builder, piece)
        for (root, path), number in zip(paths, numbers, strict=True):
            moved.send(root, path, number)
        for rank in range(len(trees)):
            moved.add_up(rank)
    return builder.program("relayed")


@dataclass
class _Piece:
    """A piece of all vectors.

    Attributes:
        builder: the program.
        chunks: the chunks of the piece.
        held: for each rank, the vectors in its scratch, by their roots: a copy of its own one, and those of others.
    """

    builder: Builder
    chunks: range
    held: list[dict[int, _Held]]
    sent_on: set[tuple[int, int]] = field(default_factory=set)
    """Ranks, and roots of vectors on them that other blocks send on than the one that received them."""

    @staticmethod
    def of(builder: Builder, chunks: range) -> "_Piece":
        """Return a piece of which each rank has copied its own vector."""
        held: list[dict[int, _Held]] = []
        for rank in range(builder.ranks):
            (own, _), copy = builder.current(rank, chunks), builder.room(rank, chunks)
            held.append({rank: _Held(copy, builder.append(rank, "copy", (own,), (copy,)), "copy", 0)})
        return _Piece(builder, chunks, held)

    def send(self, root: int, path: Path, number: int) -> None:
        """Send the vector of a root along a path, over channels with a number."""
        made, length = self.builder, len(self.chunks)
        key, first = (root, number, path[0], path[1]), self.held[path[0]][root]
        for place, rank in enumerate(path):
            sent = (made.message(number, rank, path[place + 1], length),) if place + 1 < len(path) else ()
            if place:
                received, room = made.message(number, path[place - 1], rank, length), made.room(rank, self.chunks)
                written = made.append(rank, key, (received,), (room, *sent))
                self.held[rank][root] = _Held(room, written, key, first.sends + place)
            else:
                made.append(rank, key, (first.place,), sent, [first.written])
                self.sent_on.add((rank, root))

    def add_up(self, rank: int) -> None:
        """Add the own vector of a rank to the first one that it receives, add up all in pairs, and copy the result."""
        made, own = self.builder, self.held[rank][rank]
        received = sorted((each.sends, root) for root, each in self.held[rank].items() if root != rank)
        early = max(1, len(received) // 2)
        sums = [self._free(rank, root) for _, root in received[:early]]
        sums += [self.held[rank][root] for _, root in received[early:]]
        sums[0] = self._sum(rank, sums[0], own)
        while len(sums) > 1:
            half = (len(sums) + 1) // 2
            pairs = zip(sums, sums[half:], strict=False)
            sums = [*(self._sum(rank, one, other) for one, other in pairs), *sums[len(sums) - half : half]]
        made.append(rank, sums[0].block, (sums[0].place,), (made.result(rank, self.chunks),))

    def _sum(self, rank: int, one: _Held, other: _Held) -> _Held:
        """Return the sum of two vectors, which replaces the first one."""
        places = one.place, other.place
        return one._replace(written=self.builder.append(rank, one.block, places, places[:1], [other.written]))

    def _free(self, rank: int, root: int) -> _Held:
        """Return a vector that may be replaced by a sum: a copy if other blocks send it on."""
        held = self.held[rank][root]
        if (rank, root) not in self.sent_on:
            return held
        copy = self.builder.room(rank, self.chunks)
        return held._replace(place=copy, written=self.builder.append(rank, held.block, (held.place,), (copy,)))
