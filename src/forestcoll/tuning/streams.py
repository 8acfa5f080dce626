"""Programs in which each tree has its own blocks, so that no tree waits for another one.

The edges of a tree are divided into paths: each path begins at a node that has the data, and goes on to the child with
the highest subtree. The ranks inside a path receive a message and send it on in one instruction, so a hop costs one
overhead. Each path has its own channel number between all its ranks. In a tree that reduces, paths lead to the root: a
rank first adds up the data of the other children, and then adds and sends on the data of the highest subtree.

Such a program needs few chunks, but up to one block for each edge of a tree at a rank. So it fits only if there are few
trees. All trees must have the same share.

**Invariant.** A block belongs to one path, and handles the pieces in their order. So a block waits only for blocks of
the same tree that are nearer to the source of the data.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, pairwise

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.model import Program, Task
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Tree, TreeSchedule
from forestcoll.tuning.building import Builder

Path = tuple[int, ...]
"""The ranks of a path, from the root's side."""

Edges = Sequence[tuple[int, int]]
"""The edges of a tree from parent to child, each after the edge to its parent."""


def stream_program(schedule: TreeSchedule, pieces: int) -> Program | None:
    """Return the program of a schedule in this number of pieces; None if its trees have different shares.

    Args:
        schedule: an allgather, a reduce-scatter or an allreduce.
        pieces: the number of pieces of the data of each tree.
    """
    listed, ranks = expanded(schedule), {node: rank for rank, node in enumerate(schedule.members)}
    if len({share for phase in listed.phases for share in phase.shares}) > 1:
        return None
    trees = Counter(ranks[root] for root in listed.phases[0].roots)
    chunks_of_rank = [trees[rank] * pieces for rank in range(len(ranks))]
    builder = Builder(Task(schedule.collective.value), len(ranks), sum(chunks_of_rank))
    streams = []
    for phase in listed.phases:
        begins = list(accumulate(chunks_of_rank, initial=0))
        for tree in phase:
            begin = begins[ranks[tree.root]]
            begins[ranks[tree.root]] += pieces
            chunks = [range(each, each + 1) for each in range(begin, begin + pieces)]
            edges = edges_of(tree, listed.routes, ranks)
            streams.append(_Stream.of(phase.op, ranks[tree.root], edges, chunks))
    numbers = iter(channel_numbers([path for stream in streams for path in stream.paths]))
    for stream in streams:
        stream.add(builder, numbers)
    if builder.task is Task.ALLGATHER:
        _copy_own(builder, chunks_of_rank[0], pieces)
    return builder.program("streams")


def _copy_own(builder: Builder, parts: int, pieces: int) -> None:
    """Let each rank copy its shard to its output, one tree after the other."""
    for rank in range(builder.ranks):
        for begin in range(rank * parts, (rank + 1) * parts, pieces):
            chunks = range(begin, begin + pieces)
            builder.append(rank, None, (builder.current(rank, chunks)[0],), (builder.result(rank, chunks),))


def edges_of(tree: Tree, routes: Rows, ranks: Mapping[int, int]) -> Edges:
    """Return the edges of a tree between ranks, in the direction and the order of its routes."""
    return [(ranks[route[0]], ranks[route[-1]]) for route in (routes[each] for each in tree.routes)]


def channel_numbers(paths: Sequence[Path]) -> list[int]:
    """Return a channel number for each path that no other path has between two of its ranks.

    Numbers are as small as possible. The longest paths have the first choice, so fewer numbers are needed.
    """
    used: set[tuple[int, int, int]] = set()
    found = [0] * len(paths)
    for place in sorted(range(len(paths)), key=lambda place: -len(paths[place])):
        hops = list(pairwise(paths[place]))
        found[place] = next(each for each in count() if not any((*hop, each) in used for hop in hops))
        used.update((*hop, found[place]) for hop in hops)
    return found


@dataclass(frozen=True)
class _Stream:
    """A tree and the data that moves along it.

    Attributes:
        op: what the tree does.
        root: the rank of the root.
        paths: its paths in the direction of the data, each after those that it waits for.
        pieces: the chunks of each piece.
    """

    op: PhaseOp
    root: int
    paths: Sequence[Path]
    pieces: Sequence[range]

    @staticmethod
    def of(op: PhaseOp, root: int, edges: Edges, pieces: Sequence[range]) -> "_Stream":
        """Return the stream of a tree whose edges lead in the direction of the data."""
        if op is PhaseOp.BROADCAST:
            return _Stream(op, root, paths_of(edges), pieces)
        outwards = paths_of([(end, start) for start, end in reversed(edges)])
        return _Stream(op, root, [path[::-1] for path in reversed(outwards)], pieces)

    def add(self, builder: Builder, numbers: Iterator[int]) -> None:
        """Add the instructions, with the next number for each path."""
        for path in self.paths:
            number = next(numbers)
            key = self.op, self.pieces[0].start, number, path[0], path[1]
            for piece in self.pieces:
                self._move(builder, path, number, key, piece)

    def _move(self, made: Builder, path: Path, number: int, key: Hashable, piece: range) -> None:
        """Move a piece along a path.

        Args:
            made: the program.
            path: the path, in the order in which data flows.
            number: the number of its channels.
            key: the key of its blocks.
            piece: the chunks.
        """
        for place, rank in enumerate(path):
            received = (made.message(number, path[place - 1], rank, len(piece)),) if place else ()
            sent = (made.message(number, rank, path[place + 1], len(piece)),) if place + 1 < len(path) else ()
            if self.op is PhaseOp.BROADCAST and received:
                held = made.result(rank, piece)
                written = made.append(rank, key, received, (held, *sent))
                made.held[rank, piece.start] = held, written
                continue
            own, after = made.current(rank, piece)
            if sent:
                made.append(rank, key, (*received, own), sent, after)
                continue
            held = made.result(rank, piece) if rank == self.root else made.room(rank, piece)
            made.held[rank, piece.start] = held, made.append(rank, key, (*received, own), (held,), after)


def paths_of(edges: Edges) -> list[Path]:
    """Return the paths of a tree; the paths that begin at a node come after the path that reaches it.

    The paths that begin at one node come in the order of their lengths, the longest one first.
    """
    children: dict[int, list[int]] = {}
    heights: dict[int, int] = {}
    for parent, child in reversed(edges):
        children.setdefault(parent, []).append(child)
        heights[parent] = max(heights.get(parent, 0), heights.get(child, 0) + 1)
    for listed in children.values():
        listed.sort(key=lambda child: (-heights.get(child, 0), child))
    paths: list[Path] = []
    heads = [(edges[0][0], child) for child in children[edges[0][0]]]
    while heads:
        following = []
        for head in heads:
            path = list(head)
            while path[-1] in children:
                first, *others = children[path[-1]]
                following += [(path[-1], other) for other in others]
                path.append(first)
            paths.append(tuple(path))
        heads = following
    return paths
