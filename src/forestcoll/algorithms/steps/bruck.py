"""Bruck's algorithm: at step k, each rank sends to the rank 2^k places away.

In an allgather, that is the rank 2^k places before it. Rank r has the shards of r, r + 1, ..., r + 2^k - 1 before step
k, and sends the first of them that its target lacks. Any number N of ranks needs ceil(log2 N) steps, the fewest that
are possible if a rank sends to one rank at a step.

In an all-to-all, rank r sends to rank r + 2^k all blocks that it has whose distance from source to target has bit k.
So each of ceil(log2 N) steps moves about half of all data.

Source: J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems"
(IEEE TPDS 1997), as MPI libraries use it.

Where it loses: the last step moves up to half of all data over the greatest distance, from every rank at once. Between
boxes, nearly all shards enter a box once for each of its GPUs.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.pairs import require_few
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, step_schedule
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "bruck",
    Family.STEPS,
    COMPARED,
    title="Bruck's algorithm",
    summary="Each rank sends to the rank 1, 2, 4, and so on, places away",
)
def bruck(problem: Problem) -> StepSchedule:
    """Return Bruck's allgather and its reverse, or his all-to-all.

    Raises:
        DoesNotApplyError: routes are too long, or an all-to-all has too many compute nodes.
    """
    count = len(problem.members)
    if problem.collective is Collective.ALL_TO_ALL:
        require_few(problem)
        return step_schedule(problem, lambda _: _exchanges(count))
    return step_schedule(problem, lambda _: _steps(count))


def _steps(count: int) -> Iterator[list[ShardSend]]:
    for step in range(bits_of(count)):
        distance = 1 << step
        shards = np.arange(min(distance, count - distance))
        yield [ShardSend(rank, (rank - distance) % count, (rank + shards) % count) for rank in range(count)]


def _exchanges(count: int) -> Iterator[list[ShardSend]]:
    """Yield the steps of an all-to-all; the block for rank t is the part [t/N, (t + 1)/N) of the buffer of its source.

    A block at distance h + l from its target, with h a multiple of 2^k and l less than 2^k, has made the steps of l
    before step k. So it is at the rank l places after its source.
    """
    parts = [(Fraction(rank, count), Fraction(rank + 1, count)) for rank in range(count)]
    for step in range(bits_of(count)):
        distance = 1 << step
        yield [
            ShardSend(rank, (rank + distance) % count, (rank - gone) % count, part=parts[(rank + left) % count])
            for rank in range(count)
            for left in range(distance, count, 2 * distance)
            for gone in [np.arange(min(distance, count - left))]
        ]
