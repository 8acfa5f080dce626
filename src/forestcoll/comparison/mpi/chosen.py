"""The schedules of the algorithms that an MPI library chooses on a network."""

from collections.abc import Sequence
from itertools import groupby

from forestcoll.algorithms.baseline import BaselineResult, baselines_named
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.units import size_name
from forestcoll.comparison.mpi.rules import LIBRARIES, Ranks, chosen_algorithm
from forestcoll.demand.collective import Collective

_METHODS = {
    "bruck": "bruck",
    "brucks": "bruck",
    "linear": "direct",
    "linear_sync": "direct",
    "modified_bruck": "bruck",
    "neighbor": "neighbor-exchange",
    "pairwise": "pairwise",
    "rabenseifner": "recursive-doubling-far",
    "recursive_doubling": "recursive-doubling",
    "recursive_halving": "recursive-doubling",
    "reduce_scatter_allgather": "recursive-doubling-far",
    "ring": "rank-ring",
    "scattered": "direct",
    "segmented_ring": "rank-ring",
    "two_proc": "direct",
}
"""The method that makes the schedule of an algorithm; none is without one, such as those through one rank."""

_INSTEAD = {"recursive_doubling": "bruck", "neighbor": "ring"}
"""What an allgather of Open MPI does instead for a number of ranks that the algorithm does not take."""


def algorithms_chosen(library: str, problem: Problem, sizes: Sequence[int]) -> list[str]:
    """Return the algorithm that a library chooses for each size. A box is a host, as is a node in no box."""
    boxes, number = problem.boxes, len(problem.members)
    ranks = Ranks(number, len(boxes.members) if boxes.is_complete else number)
    return [chosen_algorithm(library, problem.collective, ranks, size) for size in sizes]


def choices_text(library: str, algorithms: Sequence[str], sizes: Sequence[int]) -> str:
    """Return what a library chooses for sizes, as a sentence without a period.

    Example:
        >>> choices_text("mpich", ["brucks", "ring", "ring"], [2**10, 2**20, 2**30])
        'MPICH 5.0.2 chooses brucks from 1KiB, ring from 1MiB'
    """
    spans = groupby(zip(algorithms, sizes, strict=True), lambda each: each[0])
    words = (f"{algorithm} from {size_name(next(each)[1])}" for algorithm, each in spans)
    return f"{LIBRARIES[library]} chooses {', '.join(words)}"


def made_by(algorithm: str, problem: Problem) -> BaselineResult:
    """Return the schedule of an algorithm of an MPI library.

    Raises:
        DoesNotApplyError: the algorithm has no schedule, or none on this network.
    """
    is_allgather = problem.collective is Collective.ALLGATHER
    if algorithm not in _METHODS or (algorithm == "recursive_doubling" and not is_allgather):  # of all data
        raise DoesNotApplyError(f"there is no schedule of {algorithm} here")
    try:
        return baselines_named([_METHODS[algorithm]])[0].result(problem)
    except DoesNotApplyError:
        if is_allgather and algorithm in _INSTEAD:
            return made_by(_INSTEAD[algorithm], problem)
        raise
