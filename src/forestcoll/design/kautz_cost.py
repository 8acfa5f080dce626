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

Let k be the least number with d^k >= N. Only the steps k-1 and k are counted, because the greatest load at a step t
before them is d^(t-1), the number of walks over an arc. Node 0 has this load: the walks of length t or less that end
at it start at nodes floor(m*N/d^t) or ceil(m*N/d^t) - 1 with an integer m, where m is a multiple of d for walks shorter
than t. These nodes are different for different m, because N/d^t is at least 2. The d^(t-1) walks over an arc have one m
modulo d, and one of the arcs has no multiple of d.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.design.measure import Cost

_Numbers = npt.NDArray[Any]
_SLOT_BITS = 6
"""More bits than the number of ends of intervals per node needs, to join a position and the number of an end."""


@dataclass(frozen=True)
class _Graph:
    """A generalized Kautz graph, or a de Bruijn graph.

    Attributes:
        nodes: N.
        degree: d.
        turns: whether the walks of odd lengths end at N-1 - (z mod N).
    """

    nodes: int
    degree: int
    turns: bool

    @cached_property
    def last(self) -> int:
        """The least length of walks that reach all nodes."""
        length = 1
        while self.degree**length < self.nodes:
            length += 1
        return length

    @property
    def half(self) -> int:
        """The number of nodes whose loads are counted."""
        return (self.nodes + 1) // 2

    @cached_property
    def lengths(self) -> _Numbers:
        """The number of walks from a node, by their length."""
        wide = np.int32 if self.nodes * self.nodes * self.degree < 2**31 else np.int64  # a walk's number is less
        return np.array([self.degree**step for step in range(self.last + 1)], dtype=wide)

    @property
    def starts(self) -> _Numbers:
        """The first node of the interval of each length of walks (row) from each node (column)."""
        found = np.arange(self.nodes, dtype=self.lengths.dtype) * self.lengths[:, None] % self.nodes
        if self.turns:
            found[1::2] = (-found[1::2] - self.lengths[1::2, None]) % self.nodes
        return found


@dataclass(frozen=True)
class _Pieces:
    """Intervals of the first half of the nodes that get a shard at the same step, one of the last two, and arcs.

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
    return _cost(_Graph(nodes, degree, turns=True))


def de_bruijn_cost(length: int, degree: int) -> Cost:
    """Return the cost of the best BFB allgather on the de Bruijn graph DBJ(degree, length), with 2 or more digits."""
    return _cost(_Graph(degree**length, degree, turns=False))


def _cost(graph: _Graph) -> Cost:
    degree, last = graph.degree, graph.last
    pieces = _pieces(graph)
    counts = _counts(graph, pieces, _arcs(graph, pieces))
    loads = Fraction((degree ** (last - 2) - 1) // (degree - 1) + int(counts[0].max()))  # one arc can bring a shard
    final = counts[1:]
    if not final.any():
        return Cost(last - 1, Fraction(degree, graph.nodes) * loads)
    walks = degree**last // graph.nodes
    loads += _shared_load(final, [min(walks, degree), min(walks + 1, degree)])
    return Cost(last, Fraction(degree, graph.nodes) * loads)


def _pieces(graph: _Graph) -> _Pieces:
    """Return all pieces: the ends of all intervals of all shards are sorted, and intervals are counted between them."""
    nodes, last, half = graph.nodes, graph.last, graph.half
    starts, bits = graph.starts, 1 << np.arange(last)  # the walks of the last step reach all nodes
    stops = starts + graph.lengths[:, None]
    before = bits @ (stops[:-1] >= nodes)
    ends = np.concatenate([np.zeros_like(starts[:1]), starts, stops % nodes])
    keys = (ends.astype(np.int32) << _SLOT_BITS) + np.arange(len(ends), dtype=np.int32)[:, None]
    keys = np.sort(keys.T, axis=1)
    firsts = np.minimum(keys >> _SLOT_BITS, half)
    limits = np.full_like(firsts, half)
    limits[:, :-1] = firsts[:, 1:]
    changes = np.concatenate([[0], bits, [0], -bits, [0]]).astype(np.int32)
    reached = np.cumsum(changes[keys & ((1 << _SLOT_BITS) - 1)], axis=1, dtype=np.int32) + before[:, None]
    kept = np.flatnonzero((limits > firsts) & (reached & ((1 << (last - 1)) - 1) == 0))  # bit 0: the shard itself
    steps = last - (reached.ravel()[kept] > 0)
    shards = (kept // len(ends)).astype(starts.dtype)
    return _Pieces(shards, steps, firsts.ravel()[kept], limits.ravel()[kept])


def _arcs(graph: _Graph, pieces: _Pieces) -> _Numbers:
    """Return the row of each piece in the table of `_counts`.

    Its last digit in base `degree` is the first arc that can bring the shard. The rest is the step, from 0. At the last
    step one more is added if the number of arcs, which has two values, is the greater one.
    """
    nodes, degree, last = graph.nodes, graph.degree, graph.last
    lengths = graph.lengths[pieces.steps]
    lowest = pieces.shards * lengths
    ends_at = np.where(pieces.steps & 1 if graph.turns else 0, nodes - 1 - pieces.firsts, pieces.firsts)
    walk = ends_at - (ends_at - lowest) // nodes * nodes  # the least number, not below `lowest`, that ends at the node
    number = walk // nodes
    walks = (lowest + lengths - 1 - walk) // nodes + 1
    more = (pieces.steps == last) & (walks > degree**last // nodes)
    rows: _Numbers = (pieces.steps - (last - 1) + more) * degree + number % degree
    return rows


def _counts(graph: _Graph, pieces: _Pieces, rows: _Numbers) -> _Numbers:
    """Return, for each step, first arc and node of the first half, the number of pieces that contain the node."""
    width = graph.half + 1
    size = 3 * graph.degree * width
    more = np.bincount(rows * width + pieces.firsts, minlength=size)
    less = np.bincount(rows * width + pieces.ends, minlength=size)
    changes = (more - less).astype(np.int32).reshape(3, graph.degree, width)
    counts: _Numbers = np.cumsum(changes, axis=2, dtype=np.int32)[:, :, :-1]
    return counts


def _shared_load(counts: _Numbers, widths: list[int]) -> Fraction:
    """Return the load of the busiest arc at the last step: the greatest ratio over all intervals of arcs.

    Args:
        counts: for each number of arcs, first arc and node: the number of shards that these arcs can bring.
        widths: the two numbers of arcs.
    """
    _, degree, nodes = counts.shape
    best = Fraction(int(counts.sum(axis=(0, 1)).max()), degree)
    sums = np.zeros((2, 2 * degree + 1, nodes), dtype=np.int32)
    np.cumsum(np.concatenate([counts, counts], axis=1), axis=1, out=sums[:, 1:])
    most = counts.max(axis=(1, 2)).tolist()
    for length in reversed(range(widths[0], degree)):
        windows = [max(length - width + 1, 0) for width in widths]
        if sum(window * count for window, count in zip(windows, most, strict=True)) <= best * length:
            continue
        within = sum(_windows(sums[place], window) for place, window in enumerate(windows) if window)
        best = max(best, Fraction(int(np.max(within)), length))
    return best


def _windows(sums: _Numbers, length: int) -> _Numbers:
    """Return the sums of `length` adjacent rows, cyclically, from each row on. `sums` has the sums up to each."""
    degree = len(sums) // 2
    windows: _Numbers = sums[length : length + degree] - sums[:degree]
    return windows
