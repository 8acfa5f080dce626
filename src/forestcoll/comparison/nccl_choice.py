"""NCCL's choices on a network: the schedule of each algorithm that it may choose, with simulated times.

The table of NCCL (`nccl/choice/`) says what it chooses for a size, and which time it expects. The algorithms themselves
are those of `compare`, in the strongest form that the network allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.algorithms.baseline import BaselineResult, baselines_named
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.nccl.choice.table import Choice, Table
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.simulate import simulate
from forestcoll.verification import certified, verify

BASELINES = {"RING": "nccl-ring", "TREE": "nccl-tree", "NVLS": "nvls", "NVLS_TREE": "nvls-tree", "PAT": "pat"}
"""The name of each algorithm of NCCL in `compare`."""

LARGE = 2**30
"""The size in bytes for which NCCL chooses where no size is given."""


@dataclass(frozen=True)
class AsChosen:
    """What NCCL chooses.

    Attributes:
        choices: the choice for each size.
        times: the simulated time of the chosen algorithm for each size.
        largest: the schedule of the algorithm that is chosen for the largest size, with its algbw.
    """

    choices: tuple[Choice, ...]
    times: tuple[Point, ...]
    largest: BaselineResult


def as_chosen(problem: Problem, table: Table, sizes: Sequence[int], costs: Costs) -> AsChosen:
    """Return what NCCL chooses for each size, with simulated times.

    Raises:
        DoesNotApplyError: NCCL chooses an algorithm that has no schedule on this network.
    """
    choices = [table.choice(problem.collective, size) for size in sizes or (LARGE,)]
    found = [each for each in choices if each is not None]
    made = {name: made_by(problem, name) for name in dict.fromkeys(each.algorithm for each in found)}
    if not found:
        raise DoesNotApplyError(f"NCCL's table has no entry for {problem.collective.with_article}")
    times = [times_of(made[each.algorithm], [each.size], costs)[0] for each in found] if sizes else []
    largest = max(found, key=lambda each: each.size)
    return AsChosen(tuple(found) if sizes else (), tuple(times), made[largest.algorithm])


def made_by(problem: Problem, algorithm: str) -> BaselineResult:
    """Return the schedule of an algorithm of NCCL on a network.

    Raises:
        DoesNotApplyError: the algorithm has no schedule on this network. The message names the algorithm.
    """
    if algorithm not in BASELINES:
        raise DoesNotApplyError(f"NCCL chooses {algorithm}, of which there is no schedule here")
    try:
        return baselines_named([BASELINES[algorithm]])[0].result(problem)
    except DoesNotApplyError as error:
        raise DoesNotApplyError(f"NCCL chooses {algorithm}: {error}") from None


def times_of(made: BaselineResult, sizes: Sequence[int], costs: Costs) -> tuple[Point, ...]:
    """Verify the schedule of an algorithm, and return its simulated times; what it sends in addition counts."""
    achieved = certified(verify(made.schedule)).algbw or Fraction(0)
    return scaled_times(made.schedule, achieved / (made.algbw or achieved), sizes, costs)


def scaled_times(schedule: Schedule, factor: Fraction, sizes: Sequence[int], costs: Costs) -> tuple[Point, ...]:
    """Return the simulated times of a schedule with `factor` times the data of each size."""
    points = simulate(schedule, [round(size * factor) for size in sizes], costs) if sizes else ()
    return tuple(
        replace(point, size=size, algbw=point.algbw / float(factor), busbw=point.busbw / float(factor))
        for size, point in zip(sizes, points, strict=True)
    )
