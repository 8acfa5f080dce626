"""Cells: ranges of the data that one tree reduces, one tree broadcasts, or both, as a whole.

The two forests of an allreduce cut the part of a root in different places. If it is cut at all these places, each range
is reduced as a whole and broadcast as a whole. A rank can then do both for a cell in one block, so that no block waits
for another.

A switch of a box can add up the data of its ranks. Only `glres` of MSCCL++ makes it do so, which stores the sum on two
ranks or more, through a switch too. So a switch adds up for two kinds of ranks, whose children only have data of their
own:

- a root that sends the result to the same children: the switch stores it on all of them. In place, the root first adds
  what other boxes send to its own data.
- a rank that sends the sum to another box, in an allreduce: the switch stores the sum in the place of the later result,
  on the rank and on one child, which ignores it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.options import Options
from forestcoll.programs.lowering.rank_trees import RankTree
from forestcoll.programs.model import Protocol

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
        stores: for each rank, the ranks of its box that it sends results to and that a switch reaches at once.
        adds: for each rank, its children whose data a switch adds up with its own; they do nothing for that.
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
    adds: Children
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

    def heard(self, rank: int) -> tuple[int, ...]:
        """Return the ranks that send sums to `rank` themselves."""
        added = self.adds.get(rank, ())
        return tuple(other for other in self.sums.get(rank, ()) if other not in added)

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


def cells_of(flows: Sequence[RankTree], layout: DataLayout, boxes: Sequence[Hashable]) -> tuple[Cell, ...]:
    """Return the cells of `flows` in an order that is the same for all ranks.

    Args:
        flows: the flows, each with exactly the pieces of the layout, which are the rounds of loops.
        layout: where the data lies.
        boxes: the box of each rank; only switches of a box store data on several ranks, or add up.
    """
    rounds = layout.options.pieces
    whole = [flow for flow in flows if flow.piece == 0]
    bounds: dict[int, set[int]] = {}
    for flow in whole:
        bounds.setdefault(flow.root, set()).update((flow.offset, flow.offset + flow.count * rounds))
    parts: dict[tuple[int, int, int], list[RankTree]] = {}
    for flow in whole:
        for begin, end in _cut(flow, rounds, bounds[flow.root]):
            parts.setdefault((flow.root, begin, end), []).append(flow)
    cells = [_with_switches(_cell(*key, listed, rounds), layout.options, boxes) for key, listed in parts.items()]
    return tuple(sorted(cells, key=lambda cell: (cell.turn, cell.instance, cell.root, cell.offset)))


def _cut(flow: RankTree, rounds: int, bounds: Iterable[int]) -> Iterator[tuple[int, int]]:
    end = flow.offset + flow.count * rounds
    inner = sorted(bound for bound in bounds if flow.offset < bound < end)
    return zip([flow.offset, *inner], [*inner, end], strict=True)


def _cell(root: int, begin: int, end: int, flows: Sequence[RankTree], rounds: int) -> Cell:
    """Return a cell whose `adds` has every child that a switch reaches with all others that it reaches."""
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
        adds={rank: listed[0] for rank, listed in fans.get(PhaseOp.REDUCE, _NONE).items() if len(listed) == 1},
        turn=min(flow.turn for flow in flows),
        instance=flows[0].instance,
    )


def _with_switches(cell: Cell, options: Options, boxes: Sequence[Hashable]) -> Cell:
    """Return the cell with only those `stores` and `adds` that switches can do."""

    def is_inside(rank: int, fan: Iterable[int]) -> bool:
        return {boxes[other] for other in fan} == {boxes[rank]}

    if not (cell.stores or cell.adds):
        return cell
    inside = {rank: tuple(fan for fan in fans if is_inside(rank, fan)) for rank, fans in cell.stores.items()}
    cell = replace(cell, stores={rank: fans for rank, fans in inside.items() if fans})
    adds = {
        rank: fan
        for rank, fan in cell.adds.items()
        if options.protocol is not Protocol.LL
        and is_inside(rank, fan)
        and not cell.sums.keys() & set(fan)
        and _may_add(cell, rank, options, boxes)
    }
    return replace(cell, adds=adds)


def _may_add(cell: Cell, rank: int, options: Options, boxes: Sequence[Hashable]) -> bool:
    """Return whether a switch may store the sum of a rank and its `adds` on several ranks, and nothing is left out."""
    waits = bool(cell.heard(rank))
    if rank == cell.root:
        is_stored = set(cell.adds[rank]) in map(set, cell.stores.get(rank, ()))
        return is_stored and not (waits and options.out_of_place)
    return bool(cell.spreads) and not waits and boxes[cell.sums_go_to[rank]] != boxes[rank]
