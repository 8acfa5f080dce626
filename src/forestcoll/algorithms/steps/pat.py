"""PAT: Bruck's allgather with the steps in reverse order, so that the least data moves over the greatest distance.

Each rank is the root of a binomial tree of the ranks after it. At the step with the distance d, from the greatest power
of two down to 1, a rank sends the shards that it has to the rank d places after it.

Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale" (arXiv:2506.20252), and
NCCL 2.30, `src/include/collectives.h`. NCCL limits the shards of one send by its buffer, and uses PAT for one GPU in
each box. Here a send has no limit, so there are ceil(log2 N) steps, for any number N of ranks.

Where it loses: distances wrap around, so at every step some GPUs of a box send to another box. Each step waits for its
slowest send.
"""

from collections.abc import Iterator

import numpy as np

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, step_schedule
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "pat",
    Family.STEPS,
    UNROOTED,
    title="PAT",
    summary="NCCL's algorithm for few bytes: binomial trees, one for each shard",
)
def pat(problem: Problem) -> StepSchedule:
    """Return the allgather of PAT and its reverse.

    Raises:
        DoesNotApplyError: routes are too long.
    """
    count = len(problem.members)
    return step_schedule(problem, lambda _: _steps(count))


def _steps(count: int) -> Iterator[list[ShardSend]]:
    for step in reversed(range(bits_of(count))):
        distance = 1 << step
        behind = np.arange(0, count - distance, 2 * distance)
        yield [ShardSend(rank, (rank + distance) % count, (rank - behind) % count) for rank in range(count)]
