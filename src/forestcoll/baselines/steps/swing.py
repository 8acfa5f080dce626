"""Swing: partners on alternating sides of a rank, at distances 1, 1, 3, 5, 11, ... that are shorter than 2^s.

At step s of the reduce-scatter, rank r exchanges with r + d(s) if r is even, with r - d(s) if r is odd, modulo the
number of ranks; d(s) = 1 - 2 + 4 - ... = (1 - (-2)^(s + 1)) / 3. The allgather has these steps in reverse, so the
greatest distances come first, and all ranks send all that they have at each step.

Source: D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce" (NSDI 2024, arXiv:2401.09356),
on one ring of ranks whose number is a power of two. The variant for tori uses each dimension in turn.

Where it loses: on boxes, it is between recursive doubling near first and far first, because distances that are not
powers of two cross from box to box at more than one step. Each step waits for its slowest send.
"""

from forestcoll.baselines.baseline import Problem
from forestcoll.baselines.steps.sends import bits_of, exchanges, require_power_of_two, step_schedule
from forestcoll.schedule.steps.value import StepSchedule


def swing(problem: Problem) -> StepSchedule:
    """Return the allgather of Swing and its reverse.

    Raises:
        DoesNotApplyError: the number of compute nodes is not a power of two, or routes are too long.
    """
    count = require_power_of_two(problem, "Swing")
    return step_schedule(
        problem, lambda _: exchanges(partners(count, step) for step in reversed(range(bits_of(count))))
    )


def partners(count: int, step: int) -> list[int]:
    """Return the partner of each rank at a step of the reduce-scatter; `count` is even.

    Example:
        >>> partners(8, 2)
        [3, 6, 5, 0, 7, 2, 1, 4]
    """
    distance = (1 - (-2) ** (step + 1)) // 3
    return [(rank + distance if rank % 2 == 0 else rank - distance) % count for rank in range(count)]
