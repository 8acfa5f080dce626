"""Swing: partners on alternating sides of a rank, at the distances 1, 1, 3, 5, 11, ..., at most 2^s.

At step s of the reduce-scatter, rank r sends to r + d(s) if r is even, to r - d(s) if r is odd, modulo the number of
ranks; d(s) = 1 - 2 + 4 - ... = (1 - (-2)^(s + 1)) / 3. It sends the sums that the partner can bring to their ends in
the steps that follow, except those that it can still bring there itself. The allgather has these steps in reverse.

On a torus, a step is along one dimension, and the dimensions take turns. Each shard has 2D parts, where D is the number
of dimensions. Part i begins with dimension i modulo D, and the parts from D on go in the other directions, so that a
node uses all its links.

Source: D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce" (NSDI 2024, arXiv:2401.09356),
and the code of its authors (`compute_peers` and `getBitmapsMatrix` in `lib/libswing.cc` of HLC-Lab/bine_trees_fugaku).
The number of ranks, or the size of each dimension, is even.

Where it loses: on boxes, ranks as one ring are between recursive doubling near first and far first, because distances
that are not powers of two cross from box to box at more than one step, and each step waits for its slowest send. On a
torus whose dimensions are all 2 or all 4, it reaches the optimum. In larger dimensions, sends at a distance of 3 or
more share links.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, step_schedule
from forestcoll.algorithms.steps.torus import in_turn, moved, places_along, sizes_of
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "swing",
    Family.STEPS,
    UNROOTED,
    title="Swing",
    summary="Recursive doubling with partners in turn on the left and on the right",
)
def swing(problem: Problem) -> StepSchedule:
    """Return the allgather of Swing on the ranks as one ring, and its reverse.

    Raises:
        DoesNotApplyError: the number of compute nodes is odd, or routes are too long.
    """
    count = len(problem.members)
    if count % 2:
        raise DoesNotApplyError(f"Swing needs an even number of compute nodes, and there are {count}")
    return step_schedule(problem, lambda _: _gathered([partners((count,), 0, step) for step in range(bits_of(count))]))


@baseline(
    "swing-torus",
    Family.STEPS,
    UNROOTED,
    title="Swing on a torus",
    summary="Swing along each dimension, with a part of each shard for each direction",
)
def swing_torus(problem: Problem) -> StepSchedule:
    """Return the allgather of Swing on a torus, and its reverse.

    Raises:
        DoesNotApplyError: the network is not a torus of compute nodes with nodes numbered row by row, a dimension is
            odd, or only some of the compute nodes take part.
    """
    sizes = sizes_of(problem)
    if any(size % 2 for size in sizes):
        raise DoesNotApplyError(f"Swing needs even dimensions, and the torus has {'x'.join(map(str, sizes))} nodes")
    ports = range(2 * len(sizes))
    return step_schedule(
        problem, lambda _: map(chain.from_iterable, zip(*(_part(sizes, port) for port in ports), strict=True))
    )


def _part(sizes: Sequence[int], port: int) -> Iterator[list[ShardSend]]:
    """Yield the steps of one of the 2D parts of each shard."""
    ports, sign = 2 * len(sizes), 1 if port < len(sizes) else -1
    part = Fraction(port, ports), Fraction(port + 1, ports)
    turns = [
        partners(sizes, dimension, step, sign)
        for dimension, step in in_turn(list(map(bits_of, sizes)), port % len(sizes))
    ]
    for sends in _gathered(turns):
        yield [send._replace(part=part) for send in sends]


def partners(sizes: Sequence[int], dimension: int, step: int, sign: int = 1) -> IntArray:
    """Return the partner of each node of a torus at a step along a dimension, in the reduce-scatter.

    Args:
        sizes: the sizes of the dimensions; one size for a ring.
        dimension: the dimension.
        step: the number of the step in this dimension.
        sign: 1, or -1 for the other direction.

    Example:
        >>> partners((8,), 0, 2).tolist()
        [3, 6, 5, 0, 7, 2, 1, 4]
    """
    distance = sign * (1 - (-2) ** (step + 1)) // 3
    is_even = places_along(sizes)[dimension] % 2 == 0
    return moved(sizes, dimension, np.where(is_even, distance, -distance))


def _gathered(turns: Sequence[IntArray]) -> Iterator[list[ShardSend]]:
    """Yield the steps of the allgather, for the partners at each step of the reduce-scatter.

    A node can bring a sum to the nodes that it reaches by the steps that follow. It sends to its partner the sums for
    the nodes that only the partner then reaches.
    """
    reached = np.eye(len(turns[0]), dtype=np.bool_)
    for of_node in reversed(turns):
        further = reached[of_node] & ~reached
        yield [ShardSend(int(of_node[node]), node, np.flatnonzero(further[node])) for node in range(len(of_node))]
        reached |= further
