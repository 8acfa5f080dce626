"""The cost of the BFB allgather on generalized Kautz and de Bruijn graphs, in O(N * d^2) instead of O(N^2 * 2^d).

In Π(d, N), the targets of the walks of length t from node v are consecutive. Let z run over the integers from v * d^t
to (v+1) * d^t - 1. Each z is one walk. It ends at node u = z mod N if t is even and at u = N-1 - (z mod N) if t is odd,
and its last arc is the arc number floor(z/N) mod d into u, in one order of the arcs for even t and in the opposite
order for odd t. In a de Bruijn graph of N = d^k nodes, all walks end at z mod N. It follows that

- the nodes within a distance of v are a few intervals,
- the arcs that can bring shard v to u at the step of its distance have consecutive numbers, modulo d.

So the set S of arcs with the greatest |shards that only S can bring| / |S| (Theorem 19) can be an interval of arc
numbers, because otherwise one of its intervals has as great a ratio. There are d^2 intervals instead of 2^d sets. The
shards of each node and each interval are counted by adding up their changes from node to node. The map of node v to
node N-1-v is an automorphism of both graphs, so the loads are counted on the first half of the nodes only.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.design.measure import Cost

_Numbers = npt.NDArray[Any]
_SLOT_BITS = 6
"""More bits than the number of ends of intervals per node needs, to join a position and the number of an end."""


@dataclass(frozen=True)
class _Pieces:
    """Intervals of the first half of the nodes that get a shard at the same step over the same arcs.

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
    half = (nodes + 1) // 2
    pieces = _pieces(nodes, degree, last, half, turns=turns)
    counts = _counts(pieces, _arcs(pieces, nodes, degree, last, turns=turns), half, last + 1, degree)
    loads = [Fraction(int(counts[:, step].max())) for step in range(last - 1)]  # only one arc can bring each shard
    final = counts[:, last - 1 :]
    if final.any():
        walks = degree**last // nodes
        loads.append(_shared_load(final, [min(walks, degree), min(walks + 1, degree)]))
    return Cost(len(loads), Fraction(degree, nodes) * sum(loads, Fraction(0)))


def _pieces(nodes: int, degree: int, last: int, half: int, *, turns: bool) -> _Pieces:
    """Return all pieces: the ends of all intervals of all shards are sorted, and intervals are counted between them."""
    wide = np.int32 if nodes * nodes * degree < 2**31 else np.int64  # a walk's number is less than N * N * d
    numbers = np.arange(nodes, dtype=wide)
    ends, changes, before = [np.zeros(nodes, dtype=wide)], [0], np.full(nodes, 1 << last, dtype=np.int32)
    for step in range(last + 1):
        length = degree**step
        start = numbers * length % nodes
        if turns and step % 2:
            start = (-start - length) % nodes
        bit = (1 << step) * (step < last)  # the walks of the last step reach all nodes
        ends += [start, (start + length) % nodes]
        changes += [bit, -bit]
        before[start + length >= nodes] += bit
    keys: _Numbers = np.stack(ends, axis=1).astype(np.int32) << _SLOT_BITS
    keys += np.arange(len(ends), dtype=np.int32)
    keys.sort(axis=1)
    firsts = np.minimum(keys >> _SLOT_BITS, half)
    limits = np.full_like(firsts, half)
    limits[:, :-1] = firsts[:, 1:]
    changed = np.array(changes, dtype=np.int32)[keys & ((1 << _SLOT_BITS) - 1)]
    reached = np.cumsum(changed, axis=1, dtype=np.int32) + before[:, None]
    kept = np.flatnonzero((limits > firsts) & (reached & 1 == 0))  # bit 0: the shard itself
    lowest = reached.ravel()[kept]
    steps = np.bitwise_count((lowest & -lowest) - 1)
    shards = (kept // len(ends)).astype(wide)
    return _Pieces(shards, steps, firsts.ravel()[kept], limits.ravel()[kept])


def _arcs(pieces: _Pieces, nodes: int, degree: int, last: int, *, turns: bool) -> _Numbers:
    """Return the column of each piece in the table of `_counts`.

    Its last digit in base `degree` is the first arc that can bring the shard. The rest is the step, from 0. At the last
    step one more is added if the number of arcs, which has two values, is the greater one.
    """
    lengths = np.array([degree**step for step in range(last + 1)]).astype(pieces.shards.dtype)[pieces.steps]
    lowest = pieces.shards * lengths
    ends_at = np.where(pieces.steps & 1 if turns else 0, nodes - 1 - pieces.firsts, pieces.firsts)
    apart = ends_at - lowest
    walk = ends_at - apart // nodes * nodes  # the least number of a walk, not below `lowest`, that ends at the node
    number = walk // nodes
    walks = (lowest + lengths - 1 - walk) // nodes + 1
    more = (pieces.steps == last) & (walks > degree**last // nodes)
    columns: _Numbers = (pieces.steps - 1 + more.astype(np.int32)) * degree + (number - number // degree * degree)
    return columns


def _counts(pieces: _Pieces, columns: _Numbers, half: int, steps: int, degree: int) -> _Numbers:
    """Return, for each node of the first half, step and first arc, the number of pieces that contain the node."""
    width = steps * degree
    size = (half + 1) * width
    more = np.bincount(pieces.firsts * width + columns, minlength=size)
    less = np.bincount(pieces.ends * width + columns, minlength=size)
    changes = (more - less).astype(np.int32).reshape(half + 1, width)[:-1]
    return np.cumsum(changes, axis=0, dtype=np.int32).reshape(half, steps, degree)


def _shared_load(counts: _Numbers, widths: list[int]) -> Fraction:
    """Return the load of the busiest arc at the last step: the greatest ratio over all intervals of arcs.

    Args:
        counts: for each node, number of arcs and first arc: the number of shards that these arcs can bring.
        widths: the two numbers of arcs.
    """
    nodes, _, degree = counts.shape
    best = Fraction(int(counts.sum(axis=(1, 2)).max()), degree)
    twice = np.concatenate([np.zeros((nodes, 2, 1), dtype=np.int32), counts, counts], axis=2)
    sums = np.cumsum(twice, axis=2, dtype=np.int32)
    for length in range(widths[0], degree):
        within = _windows(sums[:, 0], length - widths[0] + 1)
        if widths[1] <= length:
            within = within + _windows(sums[:, 1], length - widths[1] + 1)
        best = max(best, Fraction(int(within.max()), length))
    return best


def _windows(sums: _Numbers, length: int) -> _Numbers:
    """Return the sums of `length` adjacent columns, cyclically, from each column on. `sums` has the sums up to each."""
    degree = sums.shape[1] // 2
    return sums[:, length : length + degree] - sums[:, :degree]
