"""Frontiers for many sizes and degrees, with any executor of `concurrent.futures`.

A process pool, a thread pool, MPI's `MPIPoolExecutor` and a Dask client's `get_executor()` all have `submit`. The
questions are sent in batches. Each batch has sizes from the whole range, so that all batches take a similar time. One
finder answers a whole batch and reuses intermediate frontiers.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.design.search.exchanges import exchange_frontier
from forestcoll.design.search.finder import Frontier, TopologyFinder, check_question

Question = tuple[int, int]
"""A number of nodes and a degree."""

BATCHES = 16
"""The number of batches."""


def sweep(
    questions: Iterable[Question],
    finder: TopologyFinder | None = None,
    with_exchanges: bool = False,  # noqa: FBT001, FBT002 (an executor passes positional arguments)
    *,
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> Iterator[Frontier]:
    """Yield the frontier of each question, in the order of the questions. Questions without a network are skipped.

    Args:
        questions: pairs of a number of nodes and a degree.
        finder: what searches; one with the defaults of `TopologyFinder` if None.
        with_exchanges: whether the rate of an all-to-all is a third measure, as for `exchange_frontier`.
        executor: where the work is done. None means this process.
        progress: receives the number of finished batches.

    Raises:
        InputError: a number is out of range, or a finder with bases of the user is given with an executor.
    """
    finder = finder or TopologyFinder()
    if finder.bases and executor is not None:
        raise InputError("bases are for a search in this process; leave out the executor")
    requested = list(questions)
    batches = [batch for first in range(BATCHES) if (batch := requested[first::BATCHES])]
    if executor is None:
        for place, (nodes, degree) in enumerate(requested):
            progress.advance(place, len(requested))
            yield from _found(finder, nodes, degree, with_exchanges)
        return
    restrictions = finder.bidirectional, finder.published_only, with_exchanges
    futures = [executor.submit(answers, batch, *restrictions) for batch in batches]
    answered: dict[Question, Frontier] = {}
    for place, future in enumerate(futures):
        progress.advance(place, len(futures))
        answered |= {(frontier.nodes, frontier.degree): frontier for frontier in future.result()}
    yield from (answered[question] for question in requested if question in answered)


def answers(
    batch: Sequence[Question],
    bidirectional: bool,  # noqa: FBT001 (an executor passes positional arguments)
    published_only: bool,  # noqa: FBT001
    with_exchanges: bool,  # noqa: FBT001
) -> list[Frontier]:
    """Return the frontiers of a batch. A worker process calls this function."""
    finder = TopologyFinder(bidirectional=bidirectional, published_only=published_only)
    return [each for nodes, degree in batch for each in _found(finder, nodes, degree, with_exchanges)]


def _found(finder: TopologyFinder, nodes: int, degree: int, with_exchanges: bool) -> Iterator[Frontier]:  # noqa: FBT001
    with suppress(NoSolutionError):
        yield found(finder, nodes, degree, with_exchanges)


def found(
    finder: TopologyFinder,
    nodes: int,
    degree: int,
    with_exchanges: bool,  # noqa: FBT001
    progress: Progress = SILENT,
) -> Frontier:
    """Return the frontier of one size and degree, with the rate of an all-to-all as a third measure or without it.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known.
    """
    return exchange_frontier(finder, nodes, degree, progress) if with_exchanges else finder.find(nodes, degree)


def questions_of(nodes: Sequence[int], degrees: Sequence[int]) -> list[Question]:
    """Return every pair of a number of nodes and a degree, of numbers in ascending order.

    Raises:
        InputError: a number is out of range.
    """
    for place in (0, -1):  # before the pairs, of which a senseless range would have billions
        check_question(nodes[place], degrees[place])
    listed = list(degrees)
    return [(size, degree) for size in nodes for degree in listed]
