"""Frontiers for many sizes and degrees, by any executor of `concurrent.futures`.

A process pool, a thread pool, MPI's `MPIPoolExecutor` and a Dask client's `get_executor()` all have `submit`. Questions
go out in batches, each dealt from all sizes so that batches take alike, and answers come back as JSON, in the order of
the questions. Within a batch one finder remembers what it found on the way.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor

from forestcoll.design.cache import frontier_document, frontier_of
from forestcoll.design.finder import Frontier, TopologyFinder
from forestcoll.errors import NoSolutionError
from forestcoll.progress import SILENT, Progress

Question = tuple[int, int]
"""Nodes and degree."""

BATCHES = 16
"""Into how many batches the questions are dealt."""


def sweep(
    questions: Iterable[Question],
    *,
    executor: Executor | None = None,
    bidirectional: bool = False,
    published_only: bool = False,
    progress: Progress = SILENT,
) -> Iterator[Frontier]:
    """Yield the frontier of each question that has a network, in the order of the questions.

    Args:
        questions: pairs of nodes and degree.
        executor: where the work is done; in this process if None.
        bidirectional: take networks alone whose links lead both ways.
        published_only: take the base networks of the paper alone.
        progress: is told how many batches are done.

    Raises:
        InputError: a number is out of range.
    """
    asked = list(questions)
    batches = [batch for first in range(BATCHES) if (batch := asked[first::BATCHES])]
    if executor is None:
        finder = TopologyFinder(bidirectional=bidirectional, published_only=published_only)
        for place, (nodes, degree) in enumerate(asked):
            progress.advance(place, len(asked))
            yield from _found(finder, nodes, degree)
        return
    futures = [executor.submit(answers, batch, bidirectional, published_only) for batch in batches]
    found: dict[Question, Frontier] = {}
    for place, future in enumerate(futures):
        progress.advance(place, len(futures))
        for document in future.result():
            frontier = frontier_of(document)
            found[frontier.nodes, frontier.degree] = frontier
    yield from (found[question] for question in asked if question in found)


def answers(batch: Sequence[Question], bidirectional: bool, published_only: bool) -> list[dict[str, object]]:  # noqa: FBT001 (an executor's arguments)
    """Return the frontiers of a batch as JSON: what a worker does."""
    finder = TopologyFinder(bidirectional=bidirectional, published_only=published_only)
    return [frontier_document(each) for nodes, degree in batch for each in _found(finder, nodes, degree)]


def _found(finder: TopologyFinder, nodes: int, degree: int) -> Iterator[Frontier]:
    try:
        yield finder.find(nodes, degree)
    except NoSolutionError:
        return


def questions_of(nodes: Iterable[int], degrees: Iterable[int]) -> list[Question]:
    """Return every pair of a number of nodes and a degree."""
    listed = list(degrees)
    return [(size, degree) for size in nodes for degree in listed]
