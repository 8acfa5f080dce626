"""The cost of the BFB allgather on generalized Kautz and de Bruijn graphs, in O(N * d^2) instead of O(N^2 * 2^d).

In Π(d, N), the targets of the walks of length t from node v are consecutive. Let z run over the integers from v * d^t
to (v+1) * d^t - 1. Each z is one walk. It ends at node u = z mod N if t is even and at u = N-1 - (z mod N) if t is odd,
and its last arc is the arc number floor(z/N) mod d into u, in one order of the arcs for even t and in the opposite
order for odd t. In a de Bruijn graph of N = d^k nodes, all walks end at z mod N. It follows that

- the nodes within a distance of v are a few intervals,
- the arcs that can bring shard v to u at the step of its distance have consecutive numbers, modulo d.

So the set S of arcs with the greatest |shards that only S can bring| / |S| (Theorem 19) can be an interval of arc
numbers, because otherwise one of its intervals has as great a ratio. There are d^2 intervals instead of 2^d sets. The
shards of each node and each interval are counted by adding up their changes from node to node.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.design.measure import Cost

_Numbers = npt.NDArray[np.int64] | npt.NDArray[np.int32]
_SLOT = 64
"""More than the number of ends of intervals per node, to join a position and the number of an end to one integer."""


@dataclass(frozen=True)
class _Pieces:
    """Intervals of nodes that get a shard at the same step over the same arcs.

    Attributes:
        shards: the shard of each interval.
        steps: the step, which is the distance from the shard.
        firsts: the first node of the interval.
        ends: one more than the last node.
    """

    shards: _Numbers
    steps: _Numbers
    firsts: _Numbers
    ends: _Numbers

    def where(self, kept: npt.NDArray[np.bool_]) -> "_Pieces":
        """Return the pieces that are kept."""
        return _Pieces(self.shards[kept], self.steps[kept], self.firsts[kept], self.ends[kept])


def kautz_cost(nodes: int, degree: int) -> Cost:
    """Return the cost of the best BFB allgather on the generalized Kautz graph Π(degree, nodes).

    Args:
        nodes: N, more than `degree`.
        degree: d, 2 or more.
    """
    return _cost(nodes, degree, turns=True)


def de_bruijn_cost(length: int, degree: int) -> Cost:
    """Return the cost of the best BFB allgather on the de Bruijn graph DBJ(degree, length), with 2 or more digits."""
    return _cost(degree**length, degree, turns=False)


def _cost(nodes: int, degree: int, *, turns: bool) -> Cost:
    """Return the cost. `turns` is whether the walks of odd lengths end at N-1 - (z mod N)."""
    last = 1
    while degree**last < nodes:
        last += 1
    pieces = _pieces(nodes, degree, last, turns=turns)
    first_arcs, widths = _arcs(pieces, nodes, degree, turns=turns)
    loads = [Fraction(load) for load in _sole_loads(pieces, first_arcs, nodes, degree, last)]
    final = pieces.steps == last
    if final.any():
        loads.append(_shared_load(pieces.where(final), first_arcs[final], widths[final], nodes, degree))
    return Cost(len(loads), Fraction(degree, nodes) * sum(loads, Fraction(0)))


def _pieces(nodes: int, degree: int, last: int, *, turns: bool) -> _Pieces:
    """Return all pieces: the ends of all intervals of all shards are sorted, and intervals are counted between them."""
    numbers = np.arange(nodes, dtype=np.int64)
    ends, changes, before = [np.zeros(nodes, dtype=np.int64)], [0], np.full(nodes, 1 << last, dtype=np.int32)
    for step in range(last + 1):
        length = degree**step
        start = numbers * length % nodes
        if turns and step % 2:
            start = (-start - length) % nodes
        bit = (1 << step) * (step < last)  # the walks of the last step reach all nodes
        ends += [start, (start + length) % nodes]
        changes += [bit, -bit]
        before[start + length >= nodes] += bit
    keys = np.stack(ends, axis=1).astype(np.int32) * _SLOT + np.arange(len(ends), dtype=np.int32)
    keys.sort(axis=1)
    reached = np.cumsum(np.array(changes, dtype=np.int32)[keys % _SLOT], axis=1, dtype=np.int32) + before[:, None]
    steps = np.bitwise_count((reached & -reached) - 1)
    firsts = keys // _SLOT
    limits = np.concatenate([firsts[:, 1:], np.full((nodes, 1), nodes, dtype=np.int32)], axis=1)
    kept = np.flatnonzero((limits > firsts) & (steps > 0))
    return _Pieces(kept // len(ends), *(each.ravel()[kept].astype(np.int64) for each in (steps, firsts, limits)))


def _arcs(pieces: _Pieces, nodes: int, degree: int, *, turns: bool) -> tuple[_Numbers, _Numbers]:
    """Return, for each piece, the first arc that can bring the shard, and the number of such arcs."""
    powers = np.array([degree**step for step in range(int(pieces.steps.max()) + 1)], dtype=np.int64)
    lengths = powers[pieces.steps]
    ends_at = np.where(turns & (pieces.steps % 2 > 0), nodes - 1 - pieces.firsts, pieces.firsts)
    lowest = pieces.shards * lengths
    walk = lowest + (ends_at - lowest) % nodes
    walks = (lowest + lengths - 1 - walk) // nodes + 1
    return walk // nodes % degree, np.minimum(walks, degree)


def _counts(pieces: _Pieces, kinds: _Numbers, count: int, nodes: int) -> _Numbers:
    """Return, for each node (row) and each kind of piece below `count`, the number of pieces that contain the node."""
    size = (nodes + 1) * count
    more = np.bincount(pieces.firsts * count + kinds, minlength=size)
    less = np.bincount(pieces.ends * count + kinds, minlength=size)
    return np.cumsum((more - less).astype(np.int32).reshape(nodes + 1, count)[:-1], axis=0, dtype=np.int32)


def _sole_loads(pieces: _Pieces, arcs: _Numbers, nodes: int, degree: int, last: int) -> list[int]:
    """Return the loads of the busiest arcs at the steps before the last, at which one arc can bring each shard."""
    early = pieces.steps < last
    kinds = (pieces.steps[early] - 1) * degree + arcs[early]
    table = _counts(pieces.where(early), kinds, (last - 1) * degree, nodes)
    loads: list[int] = table.max(axis=0).reshape(-1, degree).max(axis=1).tolist()
    return loads


def _shared_load(pieces: _Pieces, arcs: _Numbers, widths: _Numbers, nodes: int, degree: int) -> Fraction:
    """Return the load of the busiest arc at the last step: the greatest ratio over all intervals of arcs."""
    sums, total = {}, np.zeros(nodes, dtype=np.int32)
    for width in np.unique(widths).tolist():
        chosen = widths == width
        table = _counts(pieces.where(chosen), arcs[chosen], degree, nodes)
        twice = np.concatenate([np.zeros((nodes, 1), dtype=np.int32), table, table], axis=1)
        sums[width] = np.cumsum(twice, axis=1, dtype=np.int32)
        total += sums[width][:, degree]
    best = Fraction(int(total.max()), degree)
    for length in range(1, degree):
        within = np.zeros((nodes, degree), dtype=np.int32)
        for width, table in sums.items():
            if width <= length:
                within += _windows(table, length - width + 1)
        best = max(best, Fraction(int(within.max()), length))
    return best


def _windows(sums: _Numbers, length: int) -> _Numbers:
    """Return the sums of `length` adjacent columns, cyclically, from each column on. `sums` has the sums up to each."""
    degree = sums.shape[1] // 2
    return sums[:, length : length + degree] - sums[:, :degree]
