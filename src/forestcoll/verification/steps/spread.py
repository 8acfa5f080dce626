"""How the shards of a phase spread, and which part of which shard each node has when.

A reduce spreads shards when it is read backwards, in time and direction (Theorem 1): what a node sends of a sum there
it receives here.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepPhase
from forestcoll.verification.network import BoolArray


@dataclass(frozen=True)
class Spread:
    """Transfers that copy shards, forwards or, of a reduce, backwards in time and direction.

    Attributes:
        nodes: how many nodes there are.
        steps: of each transfer its step in the order in which copies spread.
        shards: the node whose shard it sends a part of.
        sources: the node that the copy comes from.
        targets: the node that it goes to.
        lows: the place among the points where the part begins.
        highs: the place where it ends.
        points: distinct fractions of a shard, rising.
    """

    nodes: int
    steps: IntArray
    shards: IntArray
    sources: IntArray
    targets: IntArray
    lows: IntArray
    highs: IntArray
    points: tuple[Fraction, ...]

    @staticmethod
    def of(phase: StepPhase, nodes: int) -> "Spread":
        """Return how shards spread in `phase`."""
        sent, steps = phase.transfers, phase.transfers.step_of
        sources, targets = sent.sources, sent.targets
        if phase.op is PhaseOp.REDUCE:
            steps, sources, targets = sent.steps - 1 - steps, targets, sources
        return Spread(nodes, steps, sent.shards, sources, targets, sent.lows, sent.highs, sent.points)

    @cached_property
    def pieces(self) -> "Pieces":
        """What every node receives of every shard."""
        return Pieces.of(self)


@dataclass(frozen=True)
class Pieces:
    """Parts of shards that nodes receive, in the order of (shard, node, place where the part begins).

    Attributes:
        transfers: the transfer that brings each piece.
        owners: shard * nodes + node of each piece.
        lows: where it begins, a place among the points.
        highs: where it ends; it may overlap the next piece of the same owner only if `overlap` is not None.
        steps: when it arrives.
        starts: where the pieces of each owner begin, and one past the last.
        overlap: the first transfer, in the order of the file, that brings what another brings too; None without one.
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
        """Return the pieces that `spread` brings; of what comes twice, the piece that comes first."""
        owners = spread.shards.astype(np.int64) * spread.nodes + spread.targets
        order = np.argsort(owners * len(spread.points) + spread.lows, kind="stable")
        rows = _Rows(order, owners[order], spread.lows[order], spread.highs[order], spread.steps[order])
        overlaps = _overlapping(rows)
        overlap = int(order[overlaps].min()) if len(overlaps) else None
        if overlap is not None:
            rows = _first_comers(rows, sorted(set(rows.owners[overlaps].tolist())))
        starts = np.zeros(spread.nodes**2 + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows.owners, minlength=spread.nodes**2), out=starts[1:])
        return Pieces(*rows, starts, overlap)

    @cached_property
    def joins_next(self) -> BoolArray:
        """Of each piece whether the next one belongs to the same owner and begins where it ends."""
        joins = np.zeros(len(self.owners), dtype=np.bool_)
        joins[:-1] = (self.owners[1:] == self.owners[:-1]) & (self.lows[1:] == self.highs[:-1])
        return joins


class _Rows(NamedTuple):
    """Pieces by owner and begin, as the columns of `Pieces`."""

    transfers: IntArray
    owners: IntArray
    lows: IntArray
    highs: IntArray
    steps: IntArray


def _overlapping(rows: _Rows) -> IntArray:
    """Return the pieces that begin before another of the same owner, which stands before them, ends."""
    if not len(rows.owners):
        return np.zeros(0, dtype=np.int64)
    # Owners rise, so what an earlier owner's pieces reach lies below all of a later owner's.
    width = int(rows.highs.max()) + 1
    reached = np.maximum.accumulate(rows.owners * width + rows.highs)
    return np.flatnonzero(rows.owners[1:] * width + rows.lows[1:] < reached[:-1]) + 1


def _first_comers(rows: _Rows, crossed: list[int]) -> _Rows:
    """Return pieces without overlap: where several of the `crossed` owners' overlap, what comes first is kept."""
    cut: list[tuple[int, int, int, int, int]] = []
    for owner in crossed:
        begin, end = np.searchsorted(rows.owners, [owner, owner + 1]).tolist()
        columns = (rows.transfers, rows.lows, rows.highs, rows.steps)
        cut.extend(_uncrossed(owner, list(zip(*(column[begin:end].tolist() for column in columns), strict=True))))
    kept = ~np.isin(rows.owners, crossed)
    added = np.array(cut, dtype=np.int64).T
    mixed = _Rows(*(np.concatenate([old[kept], new]) for old, new in zip(rows, added, strict=True)))
    order = np.lexsort((mixed.lows, mixed.owners))
    return _Rows(*(column[order] for column in mixed))


def _uncrossed(owner: int, pieces: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    """Cut `pieces` (transfer, low, high, step) at all their ends; of each cut the first comer stays."""
    cut = []
    for low, high in pairwise(sorted({end for piece in pieces for end in piece[1:3]})):
        covering = [(step, transfer) for transfer, begin, end, step in pieces if begin <= low and high <= end]
        if covering:
            step, transfer = min(covering)
            cut.append((transfer, owner, low, high, step))
    return cut
