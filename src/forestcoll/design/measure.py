"""The cost of the best breadth-first broadcast (BFB) of a network, counted without making the schedule.

At step t node u receives every shard v at distance t. The shard comes from in-neighbours w at distance t-1 from v. Let
f(v) be the set of arcs from these in-neighbours to u. The least possible load of the busiest arc into u is the optimum
of linear program (1). By Theorem 19 it is the greatest value of |{v : f(v) within S}| / |S| over all sets S of arcs,
because a shard that only arcs in S can bring must come over S. This maximum is counted with bit sets over the shards,
which needs 2^d unions per step. For d = 4 and 1,024 nodes this takes milliseconds.

T_B is exactly d/N * (sum over t of the greatest load at step t), in units of M/B.
"""

from collections.abc import Iterator, Sequence
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


def moore_steps(nodes: int, degree: int, *, bidirectional: bool = False) -> int:
    """Return T_L*, the least number of steps that the Moore bound allows (Definition 10).

    Args:
        nodes: the number of nodes.
        degree: the number of links that leave each node.
        bidirectional: whether every link has a reverse link, so that one link of a node leads back.
    """
    within = 1
    steps, ring = 0, degree
    while within < nodes:
        within += ring
        ring *= max(degree - bidirectional, 1)
        steps += 1
    return steps


def breadth_first_cost(entering: IntArray, copies: int = 1) -> Cost | None:
    """Return the cost of the best BFB allgather on a network, or None if some node does not reach another.

    With `copies`, the cost is that of the degree expansion of the network. All copies of a node are in the same
    position, so it is enough to look at the nodes of the network: |shards that only S can bring| / |S| is that of the
    network, except at the step at which a node can first get the shards of its other copies, over its shortest cycles.
    These shards count as a shard of the size (copies - 1)/copies there.

    Args:
        entering: row u holds the sources of the `degree` arcs into u. The source of parallel arcs is repeated, and the
            source of a loop is u.
        copies: the number of copies of each node. If there are two or more, the network has no loops.

    Raises:
        ValueError: the degree is more than `MAX_DEGREE`.
    """
    nodes, degree = entering.shape
    if degree > MAX_DEGREE:
        raise ValueError(f"degree {degree} is more than {MAX_DEGREE}")
    loads: list[Fraction] = []
    own, arrived = _own_bits(nodes), nodes
    for step in _arrivals(entering, copies):
        arrived += int(np.bitwise_count(step.fresh).sum())
        fellows = (step.brought & own[:, None, :]).any(axis=2) & step.returned[:, None]
        loads.append(_greatest_load(step.fresh, step.brought & step.fresh[:, None, :], step.returned, fellows, copies))
    if arrived < nodes * nodes:
        return None
    return Cost(len(loads), Fraction(degree, nodes) * sum(loads, Fraction(0)))


def diameter(entering: IntArray, copies: int = 1) -> int:
    """Return the greatest distance in a strongly connected network, or in its degree expansion by `copies`.

    The arguments are those of `breadth_first_cost`, and the degree may be any.
    """
    return sum(1 for _ in _arrivals(entering, copies))


def distance_sum(entering: IntArray) -> int:
    """Return the sum of the distances between all ordered pairs of nodes of a strongly connected network.

    Args:
        entering: as for `breadth_first_cost`; the degree may be any.
    """
    arrivals = enumerate(_arrivals(entering, 1), start=1)
    return sum(step * int(np.bitwise_count(each.fresh).sum(dtype=np.int64)) for step, each in arrivals)


def distance_sum_at_first_node(targets: IntArray) -> int:
    """Return `distance_sum` of a strongly connected network if all nodes are equivalent, counted at one node.

    Args:
        targets: row u holds the targets of the arcs that leave u.

    Raises:
        ValueError: node 0 does not reach all nodes.
    """
    distances = _distances_from_first(targets.T)
    if distances is None:
        raise ValueError("node 0 does not reach all nodes")
    return len(targets) * int(distances.sum())


@dataclass(frozen=True)
class _Arrivals:
    """The shards that nodes can get at a step, as bit sets.

    Attributes:
        brought: for each node and each arc into it, the shards that the arc can bring.
        fresh: for each node, the shards that it gets.
        returned: whether the node gets the shards of its other copies.
    """

    brought: npt.NDArray[np.uint64]
    fresh: npt.NDArray[np.uint64]
    returned: npt.NDArray[np.bool_]


def _arrivals(entering: IntArray, copies: int) -> Iterator[_Arrivals]:
    """Yield the arrivals of each step, until nothing arrives."""
    nodes = len(entering)
    reached = _own_bits(nodes)
    own = reached.copy()
    waits = np.full(nodes, fill_value=copies > 1)
    while True:
        brought = reached[entering]
        union = np.bitwise_or.reduce(brought, axis=1)
        fresh = union & ~reached
        returned = waits & (union & own).any(axis=1)
        if not fresh.any() and not returned.any():
            return
        yield _Arrivals(brought, fresh, returned)
        reached |= fresh
        waits &= ~returned


def _own_bits(nodes: int) -> npt.NDArray[np.uint64]:
    """Return one bit set over the nodes per node. Row u contains only u."""
    bits = np.zeros((nodes, -(-nodes // 64)), dtype=np.uint64)
    numbers = np.arange(nodes)
    bits[numbers, numbers // 64] = np.uint64(1) << (numbers % 64).astype(np.uint64)
    return bits


def _greatest_load(
    fresh: npt.NDArray[np.uint64],
    brought: npt.NDArray[np.uint64],
    returned: npt.NDArray[np.bool_],
    fellows: npt.NDArray[np.bool_],
    copies: int,
) -> Fraction:
    """Return the load of the busiest arc at a step.

    `brought[u, i]` are the shards that arc i can bring to u. `fellows[u, i]` is whether arc i can bring the shards of
    the other copies of u, which arrive at this step if `returned[u]`.
    """
    degree = brought.shape[1]
    most = [0] * (degree + 1)
    for ports, others in _unions(brought, 0, 0, np.zeros_like(fresh)):
        inside = copies * np.bitwise_count(fresh & ~others).sum(axis=1, dtype=np.int64)
        if copies > 1:
            rest = [port for port in range(degree) if ports >> port & 1]
            inside += (copies - 1) * (returned & ~fellows[:, rest].any(axis=1))
        size = degree - ports.bit_count()
        most[size] = max(most[size], int(inside.max()))
    return max(Fraction(most[size], size * copies) for size in range(1, degree + 1))


def _unions(
    brought: npt.NDArray[np.uint64], port: int, ports: int, union: npt.NDArray[np.uint64]
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    """Yield every proper subset of ports, as a bit set, and the union of the shards that its ports bring."""
    degree = brought.shape[1]
    if port == degree:
        if ports.bit_count() < degree:
            yield ports, union
        return
    yield from _unions(brought, port + 1, ports, union)
    yield from _unions(brought, port + 1, ports | 1 << port, union | brought[:, port])


def cayley_cost(successors: IntArray, predecessors: IntArray, copies: Sequence[int] | None = None) -> Cost | None:
    """Return `breadth_first_cost` of a Cayley graph, counted at one node, because all nodes are equivalent.

    Args:
        successors: row i holds x * g_i for each element x.
        predecessors: row i holds x * g_i^-1 for each element x.
        copies: the number of parallel arcs of each generator. None means 1.

    Raises:
        ValueError: there are more than `MAX_DEGREE` generators.
    """
    degree, nodes = successors.shape
    weights = [1] * degree if copies is None else list(copies)
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
    return Cost(steps, Fraction(sum(weights), nodes) * _sum_of_loads(counts, weights))


def cost_at_first_node(entering: IntArray, copies: int = 1) -> Cost:
    """Return what `breadth_first_cost` is if all nodes are equivalent. Otherwise it is a lower bound.

    Only the arcs into node 0 are looked at.

    Args:
        entering: row u holds the sources of the arcs into u. The network is strongly connected.
        copies: the number of copies of each node, as for `breadth_first_cost`.

    Raises:
        ValueError: the degree is more than `MAX_DEGREE`.
    """
    nodes, degree = entering.shape
    if degree > MAX_DEGREE:
        raise ValueError(f"degree {degree} is more than {MAX_DEGREE}")
    distances = np.stack([_distances_along(entering, end) for end in entering[0]], axis=1)
    nearest = distances.min(axis=1)
    arcs = ((distances == nearest[:, None]).astype(np.int64) << np.arange(degree)).sum(axis=1)
    shards = np.full(nodes, copies, dtype=np.int64)
    shards[0] = copies - 1
    steps = int(nearest[shards > 0].max()) + 1
    counts = np.bincount((nearest << degree) + arcs, weights=shards, minlength=steps << degree).astype(np.int64)
    loads = _sum_of_loads(counts[: steps << degree].reshape(steps, -1), [1] * degree)
    return Cost(steps, Fraction(degree, nodes * copies) * loads)


def _distances_along(neighbours: IntArray, start: int) -> npt.NDArray[np.int64]:
    """Return the distance of each node from `start`, or -1: row u of `neighbours` holds the nodes next to u."""
    distances = np.full(len(neighbours), -1, dtype=np.int64)
    distances[start] = hops = 0
    ring = np.array([start])
    while len(ring):
        hops += 1
        near = neighbours[ring].ravel()
        distances[near[distances[near] < 0]] = hops
        ring = np.flatnonzero(distances == hops)
    return distances


def _distances_from_first(successors: IntArray) -> npt.NDArray[np.int64] | None:
    distances = _distances_along(successors.T, 0)
    return None if (distances < 0).any() else distances


def _sum_of_loads(counts: npt.NDArray[np.int64], weights: Sequence[int]) -> Fraction:
    """Return the sum over steps of the greatest |{v : f(v) within S}| / |S|, where a generator counts with its weight.

    At step t, `counts[t, S]` shards have f(v) = S.
    """
    degree = len(weights)
    within = counts.reshape(len(counts), *[2] * degree).copy()
    for axis in range(1, degree + 1):
        np.cumsum(within, axis=axis, out=within)
    members = np.arange(1, 1 << degree)[:, None] >> np.arange(degree) & 1
    sizes = members @ np.array(weights)
    common = lcm(*sizes.tolist())
    scaled = within.reshape(len(counts), -1)[:, 1:] * (common // sizes)
    return Fraction(int(scaled.max(axis=1).sum()), common)
