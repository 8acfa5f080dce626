"""Recursive doubling: at each step, pairs of ranks exchange all shards that they have, so their number doubles.

The numbers of partners differ in one bit. Near first, the textbook's order, begins with the lowest bit: the most data
crosses between the most distant ranks. Far first begins with the highest bit. As a reduce-scatter, it is recursive
halving, and as an allreduce the algorithm of Rabenseifner: halving, then doubling.

Source: `allgather_recursive_doubling.py` and `allreduce_recursive_doubling_halving.py` of msccl-tools
(`examples/mscclang`). The number of ranks is a power of two.

Where it loses: each step waits for its slowest send, so the NICs are idle while data moves inside the boxes. With near
first, each GPU also sends half of all data to another box at the last step. On direct networks, a rank uses only its
link to one neighbour at a step: with d links it has 1/d of its bandwidth.
"""

from collections.abc import Iterable, Iterator

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, exchanges, require_power_of_two, step_schedule
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "recursive-doubling",
    Family.STEPS,
    UNROOTED,
    title="recursive doubling",
    summary="Pairs exchange all that they have, with the nearest partner first",
)
def recursive_doubling(problem: Problem) -> StepSchedule:
    """Return recursive doubling, near first.

    Raises:
        DoesNotApplyError: the number of compute nodes is not a power of two, or routes are too long.
    """
    count = require_power_of_two(problem, "recursive doubling")
    return step_schedule(problem, lambda _: _steps(count, range(bits_of(count))))


@baseline(
    "recursive-doubling-far",
    Family.STEPS,
    UNROOTED,
    title="recursive doubling, far first",
    summary="Pairs exchange all that they have, with the farthest partner first",
)
def recursive_doubling_far(problem: Problem) -> StepSchedule:
    """Return recursive doubling, far first.

    Raises:
        DoesNotApplyError: the number of compute nodes is not a power of two, or routes are too long.
    """
    count = require_power_of_two(problem, "recursive doubling")
    return step_schedule(problem, lambda _: _steps(count, reversed(range(bits_of(count)))))


def _steps(count: int, bits: Iterable[int]) -> Iterator[list[ShardSend]]:
    return exchanges([rank ^ 1 << bit for rank in range(count)] for bit in bits)
