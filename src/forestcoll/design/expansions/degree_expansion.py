"""Degree expansion (§5.2, Definitions 2 and 13): N nodes of degree d become n*N of degree n*d.

Each node becomes n copies, and each arc joins every copy of its source to every copy of its target. The data of a copy
j is sent among the copies j of other nodes, and over the last arc to all copies. After that each copy lacks only the
shards of the other copies of the same node. One more step sends these shards in equal chunks over all arcs. That step
costs M/B * (n-1)/(n*N) (Theorem 11).
"""

from fractions import Fraction

import numpy as np

from forestcoll.design.measure import Cost
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


def degree_expansion(base: Wiring, copies: int) -> Wiring:
    """Return base * copies. Copy i of node v is node v * copies + i, and port p to copy j is port p * copies + j."""
    targets = base.targets[:, :, None] * copies + np.arange(copies)
    return Wiring(np.repeat(targets.reshape(base.nodes, -1), copies, axis=0).astype(np.int32))


def degree_expansion_cost(base: Cost, nodes: int, copies: int) -> Cost:
    """Return the cost on the expansion of a base of `nodes` nodes without loops."""
    return Cost(base.steps + 1, base.bandwidth_factor + Fraction(copies - 1, copies * nodes))


def degree_expansion_sends(base: Wiring, sends: Sends, copies: int) -> Sends:
    """Return the expanded schedule (Definition 2); the base has no loops."""
    expanded = degree_expansion(base, copies)
    finer = sends.cut_finer(expanded.degree)
    number = np.arange(copies)
    shape = (len(finer), copies, copies)  # send, copy of the source, copy of the target
    shards = np.broadcast_to((finer.shards[:, None] * copies + number)[:, :, None], shape)
    source, port = np.divmod(finer.arcs, base.degree)
    from_copy = (source[:, None] * copies + number) * expanded.degree + port[:, None] * copies
    arcs = from_copy[:, :, None] + number
    same = [np.broadcast_to(each[:, None, None], shape).ravel() for each in (finer.steps, finer.lows, finer.highs)]
    spread = (same[0], shards.ravel(), arcs.ravel(), same[1], same[2])
    return joined(finer.count + 1, finer.parts, [spread, _among_copies(expanded, copies, finer)])


def _among_copies(
    expanded: Wiring, copies: int, sends: Sends
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return the columns of the last step: each copy receives the shards of the other copies, a chunk over each arc."""
    nodes, degree = expanded.nodes, expanded.degree
    chunk = sends.parts // degree
    shape = (nodes, copies - 1, degree)
    node = np.arange(nodes)
    fellow = node[:, None] // copies * copies + (node[:, None] + np.arange(1, copies)) % copies
    lows = np.broadcast_to(np.arange(degree, dtype=np.int64) * chunk, shape).ravel()
    return (
        np.full(lows.shape, sends.count, dtype=np.int32),
        np.broadcast_to(fellow[:, :, None], shape).ravel(),
        np.broadcast_to(expanded.entering_arcs[:, None, :], shape).ravel(),
        lows,
        lows + chunk,
    )


def degree_expansion_mirror(mirror: IntArray, copies: int) -> IntArray:
    """Return an isomorphism from the expansion to its transpose, made from a mirror of the base."""
    return (mirror[:, None] * copies + np.arange(copies)).ravel().astype(np.int32)
