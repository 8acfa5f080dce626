"""Steps of MPI libraries between ranks in the order of the file: a ring, pairs of neighbours, and all pairs in turn.

- `rank-ring`: at each of N - 1 steps, each rank sends what it received last to the next rank. All steps load the links
  equally, so the barriers between them cost nothing.
- `neighbor-exchange`: ranks exchange with the neighbour on the one side and on the other in turn; from the second of
  N / 2 steps on, the two shards that they received last (of an even number of ranks).
- `pairwise`: at step k, each rank sends its shard, or its block, to the rank k places after it.

Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH" (IJHPCA
2005); J. Chen et al., "Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet"
(HPCASIA 2005); `ompi/mca/coll/base` of Open MPI, `src/mpi/coll` of MPICH.

Where they lose: they do not know the network. One step after another waits for the slowest pair, and between boxes each
shard crosses more often than it must. They are compared only by name, and for what MPI libraries choose.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.pairs import require_few
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.demand.collective import COMPARED, UNROOTED, Collective
from forestcoll.schedule.steps.value import StepSchedule

_by_name = partial(baseline, by_size=False, most_by_default=0)


@_by_name(
    "rank-ring",
    Family.STEPS,
    UNROOTED,
    title="a ring of ranks",
    summary="Each rank passes shards on to the next rank",
)
def rank_ring(problem: Problem) -> StepSchedule:
    """Return the ring in the order of the ranks.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or routes are too long.
    """
    require_few(problem)
    count = len(problem.members)
    return step_schedule(problem, lambda _: _around(count))


def _around(count: int) -> Iterator[list[ShardSend]]:
    for step in range(count - 1):
        yield [ShardSend(rank, (rank + 1) % count, [(rank - step) % count]) for rank in range(count)]


@_by_name(
    "neighbor-exchange",
    Family.STEPS,
    UNROOTED,
    title="neighbor exchange",
    summary="Neighbours exchange the two shards that they received last, on both sides in turn",
)
def neighbor_exchange(problem: Problem) -> StepSchedule:
    """Return the exchange between neighbours in the order of the ranks.

    Raises:
        DoesNotApplyError: the number of compute nodes is odd or too large, or routes are too long.
    """
    require_few(problem)
    count = len(problem.members)
    if count % 2:
        raise DoesNotApplyError(f"neighbor exchange needs an even number, and there are {count} compute nodes")
    return step_schedule(problem, lambda _: _with_neighbours(count))


def _with_neighbours(count: int) -> Iterator[list[ShardSend]]:
    last = [[rank] for rank in range(count)]
    for step in range(count // 2):
        partners = [(rank + (1 if (rank + step) % 2 == 0 else -1)) % count for rank in range(count)]
        yield [ShardSend(rank, partner, last[rank]) for rank, partner in enumerate(partners)]
        received = [last[partner] for partner in partners]
        last = [sorted({rank, *received[rank]}) for rank in range(count)] if step == 0 else received


@_by_name(
    "pairwise",
    Family.STEPS,
    COMPARED,
    title="pairwise sends",
    summary="Each rank sends its shard, or a block of its own, to one rank after another",
)
def pairwise(problem: Problem) -> StepSchedule:
    """Return the sends to one rank after another.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or routes are too long.
    """
    require_few(problem)
    count = len(problem.members)
    has_blocks = problem.collective is Collective.ALL_TO_ALL
    return step_schedule(problem, lambda _: _pairs(count, has_blocks=has_blocks))


def _pairs(count: int, *, has_blocks: bool) -> Iterator[list[ShardSend]]:
    parts = [
        (Fraction(rank, count), Fraction(rank + 1, count)) if has_blocks else (Fraction(0), Fraction(1))
        for rank in range(count)
    ]
    for distance in range(1, count):
        targets = [(rank + distance) % count for rank in range(count)]
        yield [ShardSend(rank, target, [rank], part=parts[target]) for rank, target in enumerate(targets)]
