"""Bine: the butterfly of binomial trees whose distances have the digits 1 in base -2, for any even number of ranks.

Partners are those of Swing. If the number of ranks is a power of two, a rank sends all shards that it has, and the
schedule is that of Swing. If it is not, a rank would receive some shards twice. Bine chooses one of the two steps by a
code of the distance between the rank and the owner of the shard, nu(r, p): the highest bit of the code is the step at
which the shard arrives.

Source: D. De Sensi et al., "Bine Trees" (SC 2025, arXiv:2508.17311), and its code, `bine_allgather_block_by_block` in
`src/allgather.c` and `nu` in `src/utils.h` of HLC-Lab/bine-trees.

Where it loses: as Swing, and each step waits for its slowest send.
"""

from collections.abc import Iterator

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.steps.sends import ShardSend, bits_of, step_schedule
from forestcoll.algorithms.steps.swing import partners
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.steps.value import StepSchedule


@baseline(
    "bine", Family.STEPS, UNROOTED, title="Bine trees", summary="Recursive doubling with partners at short distances"
)
def bine(problem: Problem) -> StepSchedule:
    """Return the allgather of Bine and its reverse.

    Raises:
        DoesNotApplyError: the number of compute nodes is odd, or routes are too long.
    """
    count = len(problem.members)
    if count % 2:
        raise DoesNotApplyError(f"Bine needs an even number of compute nodes, and there are {count}")
    return step_schedule(problem, lambda _: _steps(count))


def _steps(count: int) -> Iterator[list[ShardSend]]:
    bits = bits_of(count)
    arrivals = [code(distance, count).bit_length() - 1 for distance in range(1, count)]
    for step in range(bits):
        distances = [place + 1 for place, arrival in enumerate(arrivals) if arrival == step]
        yield [
            ShardSend(source, target, [(target + (-each if target % 2 else each)) % count for each in distances])
            for target, source in enumerate(partners((count,), 0, bits - 1 - step).tolist())
        ]


def code(distance: int, count: int) -> int:
    """Return nu(r, p) of a shard at a distance from 1 to `count` - 1 from an even rank.

    It is the reversed Gray code of the distance in base -2. If both the distance and its complement can be written with
    the bits that there are, it is the lesser of their codes.

    Example:
        >>> [code(distance, 8) for distance in range(1, 8)]
        [4, 6, 1, 3, 7, 5, 2]
    """
    bits, sign = bits_of(count), 1 if distance % 2 else -1
    written = (_negabinary(sign * each) for each in (distance, distance - count))
    return min(_reversed_bits(each ^ each >> 1, bits) for each in written if each < 1 << bits)


def _negabinary(number: int) -> int:
    """Return the bits of a number in base -2, as the bits of an integer."""
    digits, place = 0, 0
    while number:
        digit = number % 2
        digits |= digit << place
        number, place = (number - digit) // -2, place + 1
    return digits


def _reversed_bits(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)
