"""Cells: ranges of the data that one tree reduces, one tree broadcasts, or both, as a whole.

The two forests of an allreduce cut the part of a root in different places. If it is cut at all these places, each range
is reduced as a whole and broadcast as a whole. A rank can then do both for a cell in one block, so that no block waits
for another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.rank_trees import RankTree

Children: TypeAlias = Mapping[int, tuple[int, ...]]
Fans: TypeAlias = Mapping[int, tuple[tuple[int, ...], ...]]

_NONE: Mapping[int, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Cell:
    """A range of the data and its trees.

    Attributes:
        root: the rank that is the root of the trees.
        offset: the first chunk, counted in all data.
        count: the number of chunks that one round moves.
        rounds: the number of rounds; each moves the chunks that follow those of the previous round.
        sums: for each rank, the ranks that send it sums; empty if nothing is reduced.
        spreads: for each rank, the ranks that it sends results to; empty if nothing is broadcast.
        stores: for each rank, the ranks that it sends results to and that a switch reaches at once.
        adds: for each rank, the ranks that send it sums that a switch can add up.
        turn: the number of the tree among those of its root.
        instance: its number among the parts of the tree that move at the same time.
    """

    root: int
    offset: int
    count: int
    rounds: int
    sums: Children
    spreads: Children
    stores: Fans
    adds: Fans
    turn: int
    instance: int

    @cached_property
    def sums_go_to(self) -> Mapping[int, int]:
        """Return, for each rank except the root, the rank that it sends sums to."""
        return _parents(self.sums)

    @cached_property
    def results_come_from(self) -> Mapping[int, int]:
        """Return, for each rank except the root, the rank that sends it results."""
        return _parents(self.spreads)

    @cached_property
    def heights(self) -> Mapping[int, int]:
        """Return, for each rank, the most sends in a row that its sum waits for."""
        heights: dict[int, int] = {}
        for rank in reversed(_outward(self.root, self.sums)):
            heights[rank] = max((heights[other] + 1 for other in self.sums.get(rank, ())), default=0)
        return heights

    @cached_property
    def depths(self) -> Mapping[int, int]:
        """Return, for each rank, the number of sends that take the result to it from the root."""
        depths = {self.root: 0}
        for rank in _outward(self.root, self.spreads):
            depths |= dict.fromkeys(self.spreads.get(rank, ()), depths[rank] + 1)
        return depths

    @cached_property
    def at_once(self) -> tuple[int, ...]:
        """Return all ranks, root first, if a switch can add up the data of all and send all the result; else empty."""
        star = (self.root, *self.spreads.get(self.root, ()))
        whole = set(star[1:])
        added = {rank: [set(fan) for fan in fans] for rank, fans in self.adds.items()}
        stored = {rank: [set(fan) for fan in fans] for rank, fans in self.stores.items()}
        alone = set(self.sums) == set(self.spreads) == {self.root} and bool(whole)
        return star if alone and added == stored == {self.root: [whole]} else ()

    @cached_property
    def ranks(self) -> frozenset[int]:
        """Return all ranks that take part."""
        return frozenset((self.root, *self.sums_go_to, *self.results_come_from))

    @cached_property
    def inner(self) -> frozenset[int]:
        """Return the ranks with children, and the root: the others only send their data, or receive the result."""
        return frozenset((self.root, *self.sums, *self.spreads))


def _outward(root: int, tree: Children) -> list[int]:
    """Return the ranks of a tree, each after the rank above it."""
    listed = [root]
    for rank in listed:
        listed += tree.get(rank, ())
    return listed


def _parents(tree: Children) -> Mapping[int, int]:
    return {lower: upper for upper, listed in tree.items() for lower in listed}


def cells_of(flows: Sequence[RankTree], rounds: int) -> tuple[Cell, ...]:
    """Return the cells of `flows`, which have `rounds` pieces each, in an order that is the same for all ranks."""
    whole = [flow for flow in flows if flow.piece == 0]
    bounds: dict[int, set[int]] = {}
    for flow in whole:
        bounds.setdefault(flow.root, set()).update((flow.offset, flow.offset + flow.count * rounds))
    parts: dict[tuple[int, int, int], list[RankTree]] = {}
    for flow in whole:
        for begin, end in _cut(flow, rounds, bounds[flow.root]):
            parts.setdefault((flow.root, begin, end), []).append(flow)
    cells = [_cell(*key, listed, rounds) for key, listed in parts.items()]
    return tuple(sorted(cells, key=lambda cell: (cell.turn, cell.instance, cell.root, cell.offset)))


def _cut(flow: RankTree, rounds: int, bounds: Iterable[int]) -> Iterator[tuple[int, int]]:
    end = flow.offset + flow.count * rounds
    inner = sorted(bound for bound in bounds if flow.offset < bound < end)
    return zip([flow.offset, *inner], [*inner, end], strict=True)


def _cell(root: int, begin: int, end: int, flows: Sequence[RankTree], rounds: int) -> Cell:
    trees = {flow.op: flow.children for flow in flows}
    fans = {flow.op: flow.fans for flow in flows}
    return Cell(
        root=root,
        offset=begin,
        count=(end - begin) // rounds,
        rounds=rounds,
        sums=trees.get(PhaseOp.REDUCE, _NONE),
        spreads=trees.get(PhaseOp.BROADCAST, _NONE),
        stores=fans.get(PhaseOp.BROADCAST, _NONE),
        adds=fans.get(PhaseOp.REDUCE, _NONE),
        turn=min(flow.turn for flow in flows),
        instance=flows[0].instance,
    )
