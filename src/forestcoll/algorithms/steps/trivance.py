"""Trivance: partners on both sides of a rank, at the distances 1, 3, 9, ...

At step s of the reduce-scatter, rank r sends to r + d and to r - d, modulo the number n of ranks; d = 3^s, but in the
last step only (n - 3^s) / 2, rounded up. The allgather has these steps in reverse, so sends over long distances have
few shards. If both partners have a shard that the rank lacks, each sends a half of it. The number of steps is the
logarithm of n to base 3, rounded up.

On a torus, a step is along one dimension, and the dimensions take turns. Each shard has a part for each dimension,
which begins with it, so that a node uses all its links. Other networks are one ring, in the order of the ranks.

**Invariant.** After steps of the allgather with the distances d1, d2, ... a rank has all shards at a sum of 0, d1 or
-d1, of 0, d2 or -d2, and so on. For 1, 3, ... these are all distances up to (1 + 3 + ...), and d adds the rest of n.

Source: A. Juerss et al., "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks" (arXiv:2602.17254),
and the code of its authors (ajuerss/sst-trivance). In its second form, an allreduce has only the steps of the
reduce-scatter: each sends all data, and all sums end on all ranks. Here it does not exist, because the sum of a part
ends on one rank in every schedule.

Where it loses: on a ring of 3^k ranks, each step moves n/3 shards over each link, k n/3 in all, where (n - 1)/2 would
do.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
import numpy.typing as npt

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.algorithms.steps.torus import in_turn, moved, sizes_of
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "trivance",
    Family.STEPS,
    UNROOTED,
    title="Trivance",
    summary="Partners on both sides at the distances 1, 3, 9, and so on, along each dimension of a torus",
)
def trivance(problem: Problem) -> StepSchedule:
    """Return the allgather of Trivance, and its reverse.

    Raises:
        DoesNotApplyError: routes are too long.
    """
    try:
        sizes: tuple[int, ...] = sizes_of(problem)
    except DoesNotApplyError:
        sizes = (len(problem.members),)
    parts = range(len(sizes))
    return step_schedule(
        problem, lambda _: map(chain.from_iterable, zip(*(_part(sizes, first) for first in parts), strict=True))
    )


def distances(size: int) -> list[int]:
    """Return the distances of the steps of the reduce-scatter on a ring.

    Example:
        >>> distances(9), distances(8), distances(64)
        ([1, 3], [1, 3], [1, 3, 9, 19])
    """
    found, power = [], 1
    while 3 * power < size:
        found.append(power)
        power *= 3
    return [*found, (size - power + 1) // 2]


def _part(sizes: Sequence[int], first: int) -> Iterator[list[ShardSend]]:
    """Yield the steps of the allgather of the part of each shard that begins with a dimension."""
    along = [distances(size) for size in sizes]
    turns = list(in_turn([len(each) for each in along], first))
    held = np.eye(int(np.prod(sizes)), dtype=np.bool_)
    for dimension, step in reversed(turns):
        ahead, behind = (moved(sizes, dimension, sign * along[dimension][step]) for sign in (1, -1))
        one, other = (held[partner] & ~held for partner in (ahead, behind))
        low, middle, high = (Fraction(2 * first + half, 2 * len(sizes)) for half in range(3))
        yield [
            *_sends(ahead, one & ~other, low, high),
            *_sends(behind, other & ~one, low, high),
            *_sends(ahead, one & other, low, middle),
            *_sends(behind, one & other, middle, high),
        ]
        held |= one | other


def _sends(partner: IntArray, shards: npt.NDArray[np.bool_], low: Fraction, high: Fraction) -> Iterator[ShardSend]:
    """Yield what each node receives from its partner."""
    for node in np.flatnonzero(shards.any(axis=1)).tolist():
        yield ShardSend(int(partner[node]), node, np.flatnonzero(shards[node]), part=(low, high))
