"""What NCCL chooses on a network by its own table (`nccl/choice/`), and the schedules of its algorithms.

The algorithms are those of `compare`, in the strongest form that the network allows.
"""

from collections.abc import Sequence

from forestcoll.algorithms.baseline import BaselineResult, baselines_named
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.nccl.choice.table import Choice, Table

BASELINES = {"RING": "nccl-ring", "TREE": "nccl-tree", "NVLS": "nvls", "NVLS_TREE": "nvls-tree", "PAT": "pat"}
"""The name of each algorithm of NCCL in `compare`."""


def choices_of(problem: Problem, table: Table, sizes: Sequence[int]) -> tuple[Choice, ...]:
    """Return what NCCL chooses for each size.

    Raises:
        DoesNotApplyError: NCCL's table has no entry for the collective.
    """
    found = tuple(each for size in sizes if (each := table.choice(problem.collective, size)) is not None)
    if not found:
        raise DoesNotApplyError(f"NCCL's table has no entry for {problem.collective.with_article}")
    return found


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
