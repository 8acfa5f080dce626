"""The cost of the best breadth-first broadcast (BFB) of a network, counted without making the schedule.

At step t node u receives every shard v at distance t. The shard comes from in-neighbours w at distance t-1 from v. Let
f(v) be the set of arcs from these in-neighbours to u. The least possible load of the busiest arc into u is the optimum
of linear program (1). By Theorem 19 it is the greatest value of |{v : f(v) within S}| / |S| over all sets S of arcs,
because a shard that only arcs in S can bring must come over S. This maximum is counted with bit sets over the shards,
which needs 2^d unions per step. For d = 4 and 1,024 nodes this takes milliseconds.

T_B is exactly d/N * (sum over t of the greatest load at step t), in units of M/B.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray

MAX_DEGREE = 10
"""The maximum degree for counting, which looks at 2^d sets of arcs per step."""


@dataclass(frozen=True, order=True)
class Cost:
    """The cost of an allgather.

    Attributes:
        steps: T_L in units of alpha.
        bandwidth_factor: T_B in units of M/B, where B is the bandwidth of `degree` links together.
    """

    steps: int
    bandwidth_factor: Fraction


def least_factor(nodes: int) -> Fraction:
    """Return the least possible T_B on `nodes` nodes, in units of M/B (Theorem 4)."""
    return Fraction(nodes - 1, nodes)


def moore_steps(nodes: int, degree: int) -> int:
    """Return T_L*, the least number of steps that the Moore bound allows (Definition 10)."""
    within = ring = 1
    steps = 0
    while within < nodes:
        ring *= degree
        within += ring
        steps += 1
    return steps


def breadth_first_cost(entering: IntArray) -> Cost | None:
    """Return the cost of the best BFB allgather on a network, or None if some node does not reach another.

    Args:
        entering: row u holds the sources of the `degree` arcs into u. The source of parallel arcs is repeated, and the
            source of a loop is u.

    Raises:
        ValueError: the degree is more than `MAX_DEGREE`.
    """
    nodes, degree = entering.shape
    if degree > MAX_DEGREE:
        raise ValueError(f"degree {degree} is more than {MAX_DEGREE}")
    reached = _own_bits(nodes)
    loads: list[Fraction] = []
    while (fresh := _new_shards(reached, entering)).any():
        loads.append(_greatest_load(fresh, reached[entering] & fresh[:, None, :]))
        reached |= fresh
    if int(np.bitwise_count(reached).sum()) < nodes * nodes:
        return None
    return Cost(len(loads), Fraction(degree, nodes) * sum(loads, Fraction(0)))


def _own_bits(nodes: int) -> npt.NDArray[np.uint64]:
    """Return one bit set over the nodes per node. Row u contains only u."""
    bits = np.zeros((nodes, -(-nodes // 64)), dtype=np.uint64)
    numbers = np.arange(nodes)
    bits[numbers, numbers // 64] = np.uint64(1) << (numbers % 64).astype(np.uint64)
    return bits


def _new_shards(reached: npt.NDArray[np.uint64], entering: IntArray) -> npt.NDArray[np.uint64]:
    """Return, for each node, the shards that it lacks and that its in-neighbours have."""
    fresh = reached[entering[:, 0]].copy()
    for port in range(1, entering.shape[1]):
        fresh |= reached[entering[:, port]]
    fresh &= ~reached
    return fresh


def _greatest_load(fresh: npt.NDArray[np.uint64], brought: npt.NDArray[np.uint64]) -> Fraction:
    """Return the load of the busiest arc at a step, where `brought[u, i]` are the shards that arc i can bring to u."""
    degree = brought.shape[1]
    most = [0] * (degree + 1)
    for size, others in _unions(brought, 0, 0, np.zeros_like(fresh)):
        inside = np.bitwise_count(fresh & ~others).sum(axis=1, dtype=np.int64)
        most[degree - size] = max(most[degree - size], int(inside.max()))
    return max(Fraction(most[size], size) for size in range(1, degree + 1))


def _unions(
    brought: npt.NDArray[np.uint64], port: int, size: int, union: npt.NDArray[np.uint64]
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    """Yield the size of every proper subset of ports and the union of the shards that its ports bring."""
    degree = brought.shape[1]
    if port == degree:
        if size < degree:
            yield size, union
        return
    yield from _unions(brought, port + 1, size, union)
    yield from _unions(brought, port + 1, size + 1, union | brought[:, port])


def cayley_cost(successors: IntArray, predecessors: IntArray) -> Cost | None:
    """Return `breadth_first_cost` of a Cayley graph, counted at one node, because all nodes are equivalent.

    Args:
        successors: row i holds x * g_i for each element x.
        predecessors: row i holds x * g_i^-1 for each element x.

    Raises:
        ValueError: the degree is more than `MAX_DEGREE`.
    """
    degree, nodes = successors.shape
    if degree > MAX_DEGREE:
        raise ValueError(f"degree {degree} is more than {MAX_DEGREE}")
    distances = _distances_from_first(successors)
    if distances is None:
        return None
    # Shard v^-1 = y is distances[y] from node 0, and distances[y * g^-1] from the source of arc g.
    arcs = np.zeros(nodes, dtype=np.int64)
    for port in range(degree):
        arcs |= (distances[predecessors[port]] == distances - 1).astype(np.int64) << port
    steps = int(distances.max())
    counts = np.bincount((distances << degree) + arcs, minlength=(steps + 1) << degree).reshape(steps + 1, -1)[1:]
    return Cost(steps, Fraction(degree, nodes) * _sum_of_loads(counts, degree))


def _distances_from_first(successors: IntArray) -> npt.NDArray[np.int64] | None:
    distances = np.full(successors.shape[1], -1, dtype=np.int64)
    distances[0] = 0
    frontier = np.zeros(1, dtype=np.int64)
    steps = 0
    while len(frontier):
        steps += 1
        reached = successors[:, frontier].ravel()
        distances[reached[distances[reached] < 0]] = steps
        frontier = np.flatnonzero(distances == steps)
    return None if (distances < 0).any() else distances


def _sum_of_loads(counts: npt.NDArray[np.int64], degree: int) -> Fraction:
    """Return the sum over steps of the greatest |{v : f(v) within S}| / |S|.

    At step t, `counts[t, S]` shards have f(v) = S.
    """
    within = counts.reshape(len(counts), *[2] * degree).copy()
    for axis in range(1, degree + 1):
        np.cumsum(within, axis=axis, out=within)
    common = lcm(*range(1, degree + 1))
    sizes = np.bitwise_count(np.arange(1, 1 << degree, dtype=np.uint64)).astype(np.int64)
    scaled = within.reshape(len(counts), -1)[:, 1:] * (common // sizes)
    return Fraction(int(scaled.max(axis=1).sum()), common)
