"""Bruck's allgather: at step k, each rank sends up to 2^k shards to the rank 2^k places before it.

Rank r has the shards of r, r + 1, ..., r + 2^k - 1 before step k, and sends the first of them that its target lacks.
Any number N of ranks needs ceil(log2 N) steps, the fewest that are possible if a rank sends to one rank at a step.

Source: J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems"
(IEEE TPDS 1997), as MPI libraries use it.

Where it loses: the last step moves up to half of all data over the greatest distance, from every rank at once. Between
boxes, nearly all shards enter a box once for each of its GPUs.
"""

from collections.abc import Iterator

import numpy as np

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, step_schedule
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "bruck",
    Family.STEPS,
    UNROOTED,
    title="Bruck's algorithm",
    summary="Each rank sends to the rank 1, 2, 4, and so on, before it",
)
def bruck(problem: Problem) -> StepSchedule:
    """Return Bruck's allgather and its reverse.

    Raises:
        DoesNotApplyError: routes are too long.
    """
    count = len(problem.members)
    return step_schedule(problem, lambda _: _steps(count))


def _steps(count: int) -> Iterator[list[ShardSend]]:
    for step in range(bits_of(count)):
        distance = 1 << step
        shards = np.arange(min(distance, count - distance))
        yield [ShardSend(rank, (rank - distance) % count, (rank + shards) % count) for rank in range(count)]
