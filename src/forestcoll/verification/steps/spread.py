"""How the shards of a phase spread: which part of which shard each node has at each step.

A reduce, read backwards in time and direction, spreads shards (Theorem 1): a node that sends a part of a sum in the
reduce receives this part here.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepPhase
from forestcoll.verification.network import BoolArray
from forestcoll.verification.routes.group import ShiftGroup


@dataclass(frozen=True)
class Spread:
    """Transfers that copy shards; the transfers of a reduce are read backwards in time and direction.

    With a symmetry, each transfer is replaced by its image whose shard is that of the first node of the orbit. If these
    shards spread as they should, the images of their spread are those of the other shards.

    Attributes:
        nodes: the number of nodes.
        origins: the nodes whose shards are followed, in ascending order.
        steps: for each transfer, its step, in the order in which copies spread.
        shards: for each transfer, the node that owns the shard.
        sources: for each transfer, the node that the copy comes from.
        targets: for each transfer, the node that the copy goes to.
        lows: for each transfer, the index in `points` where the part begins.
        highs: for each transfer, the index in `points` where the part ends.
        points: distinct fractions of a shard, in ascending order.
    """

    nodes: int
    origins: IntArray
    steps: IntArray
    shards: IntArray
    sources: IntArray
    targets: IntArray
    lows: IntArray
    highs: IntArray
    points: tuple[Fraction, ...]

    @staticmethod
    def of(phase: StepPhase, group: ShiftGroup) -> "Spread":
        """Return how the shard of the first node of each orbit spreads in `phase`."""
        sent, steps = phase.transfers, phase.transfers.step_of
        sources, targets = (group.to_least(sent.shards, ends) for ends in (sent.sources, sent.targets))
        if phase.op is PhaseOp.REDUCE:
            steps, sources, targets = sent.steps - 1 - steps, targets, sources
        origins, shards = np.unique(group.orbits), group.orbits[sent.shards]
        return Spread(len(group.orbits), origins, steps, shards, sources, targets, sent.lows, sent.highs, sent.points)

    @property
    def size(self) -> int:
        """The number of pairs of an origin and a node, which own pieces."""
        return len(self.origins) * self.nodes

    def owners(self, shards: IntArray, nodes: IntArray) -> IntArray:
        """Return the number of each pair of an origin and a node."""
        return self._places[shards] * self.nodes + nodes

    @cached_property
    def _places(self) -> IntArray:
        """For each node, its place among the origins."""
        places = np.zeros(self.nodes, dtype=np.int64)
        places[self.origins] = np.arange(len(self.origins))
        return places

    @cached_property
    def pieces(self) -> "Pieces":
        """The parts of every shard that each node receives."""
        return Pieces.of(self)


@dataclass(frozen=True)
class Pieces:
    """Parts of shards that nodes receive, sorted by shard, node, and begin of the part.

    Attributes:
        transfers: for each piece, the transfer that brings it.
        owners: for each piece, the number of the pair of its shard and the node that receives it.
        lows: for each piece, the index of the point where it begins.
        highs: for each piece, the index of the point where it ends. A piece may overlap the next piece of the same
            owner only if `overlap` is not None.
        steps: for each piece, the step at which it arrives.
        starts: where the pieces of each owner begin, and the number of pieces.
        overlap: the first transfer, in the order of the file, that brings data which another transfer brings too; None
            if there is none.
    """

    transfers: IntArray
    owners: IntArray
    lows: IntArray
    highs: IntArray
    steps: IntArray
    starts: IntArray
    overlap: int | None

    @staticmethod
    def of(spread: Spread) -> "Pieces":
        """Return the pieces that `spread` brings; if data comes twice, only the first to arrive is kept."""
        owners = spread.owners(spread.shards, spread.targets)
        order = np.argsort(owners * len(spread.points) + spread.lows, kind="stable")
        rows = _Rows(order, owners[order], spread.lows[order], spread.highs[order], spread.steps[order])
        overlaps = _overlapping(rows)
        overlap = int(order[overlaps].min()) if len(overlaps) else None
        if overlap is not None:
            rows = _earliest(rows, sorted(set(rows.owners[overlaps].tolist())))
        starts = np.zeros(spread.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows.owners, minlength=spread.size), out=starts[1:])
        return Pieces(*rows, starts, overlap)

    @cached_property
    def joins_next(self) -> BoolArray:
        """For each piece, whether the next piece belongs to the same owner and begins where this one ends."""
        joins = np.zeros(len(self.owners), dtype=np.bool_)
        joins[:-1] = (self.owners[1:] == self.owners[:-1]) & (self.lows[1:] == self.highs[:-1])
        return joins


class _Rows(NamedTuple):
    """Pieces sorted by owner and begin, as the columns of `Pieces`."""

    transfers: IntArray
    owners: IntArray
    lows: IntArray
    highs: IntArray
    steps: IntArray


def _overlapping(rows: _Rows) -> IntArray:
    """Return the pieces that begin before an earlier piece of the same owner ends."""
    if not len(rows.owners):
        return rows.owners
    # Owners are in ascending order, so the pieces of an owner end below the first piece of a later owner.
    width = int(rows.highs.max()) + 1
    reached = np.maximum.accumulate(rows.owners * width + rows.highs)
    return np.flatnonzero(rows.owners[1:] * width + rows.lows[1:] < reached[:-1]) + 1


def _earliest(rows: _Rows, crossed: list[int]) -> _Rows:
    """Return pieces without overlap: where pieces of an owner in `crossed` overlap, the first to arrive is kept."""
    cut: list[tuple[int, int, int, int, int]] = []
    for owner in crossed:
        begin, end = np.searchsorted(rows.owners, [owner, owner + 1]).tolist()
        columns = (rows.transfers, rows.lows, rows.highs, rows.steps)
        cut.extend(_uncrossed(owner, list(zip(*(column[begin:end].tolist() for column in columns), strict=True))))
    kept = ~np.isin(rows.owners, crossed)
    added = np.array(cut).T
    mixed = _Rows(*(np.concatenate([old[kept], new]) for old, new in zip(rows, added, strict=True)))
    order = np.lexsort((mixed.lows, mixed.owners))
    return _Rows(*(column[order] for column in mixed))


def _uncrossed(owner: int, pieces: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    """Cut `pieces` (transfer, low, high, step) at all their ends; for each interval, keep the first to arrive."""
    cut = []
    for low, high in pairwise(sorted({end for piece in pieces for end in piece[1:3]})):
        covering = [(step, transfer) for transfer, begin, end, step in pieces if begin <= low and high <= end]
        if covering:
            step, transfer = min(covering)
            cut.append((transfer, owner, low, high, step))
    return cut
