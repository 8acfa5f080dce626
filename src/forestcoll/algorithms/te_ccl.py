"""TE-CCL: chunks flow in time, in epochs of equal length, by an integer program.

Chunk c begins to cross the pair of ranks (u, v) at epoch k if x[c, u, v, k] = 1, and is at v after d(u, v) epochs.
Ranks keep and copy chunks; switches pass them on. For K epochs of length t, and chunks of length 1:

    sum over u and k of x[c, u, v, k] = 1                               for each chunk c and each v without it
    x[c, u, v, k] <= sum over w and j <= k - d(w, u) of x[c, w, u, j]   for each u that does not start with c
    sum over c, pairs whose route uses e, and a window of w epochs of x <= b(e) w t, rounded down

for each link e and each window of w = 1 / (b(e) t) epochs, rounded up. An epoch is as long as a chunk takes on the
slowest link, or on the fastest one if that program is small; the better one is kept. K is the least number of epochs
for which HiGHS finds a solution. It stops after a number of nodes of its search tree, not after a time, so that the
result is the same on each machine. The gap states how many epochs are not excluded, by HiGHS or by the optimum.

TE-CCL has another objective, rewards for early arrival, with which a schedule need not have the fewest epochs. Its
program for an all-to-all is linear, as those of the methods `flows` and `steps` are, and has no row.

Source: X. Liu et al., "Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow Problem" (SIGCOMM
2024), and its code (`teccl/solvers/allgather.py` of microsoft/TE-CCL).

Where it loses: few chunks, bandwidths are rounded to whole chunks for each window, and the program grows exponentially.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor

from forestcoll.algorithms.baseline import BaselineResult, Family, baseline
from forestcoll.algorithms.forests import LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.timed import HALF, NotFoundError, quality, routes_of_pairs, timed_result
from forestcoll.demand.collective import UNROOTED
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.exact_lp.integer_program import IntegerProgram
from forestcoll.solver.optimum import solve
from forestcoll.topology.graph.routes import Path

MOST_NODES = 32
"""The most compute nodes."""

MOST_WORK = 80_000
"""The most binary columns of a program that is tried, times epochs."""

CHUNKS = (1, 2)
"""The numbers of chunks of each node that are tried."""

SEARCHED = 10
"""The most nodes of the search tree of HiGHS for each number of epochs."""

_MORE_EPOCHS = 4
"""How many more epochs than the fewest are tried."""


@baseline(
    "te-ccl",
    Family.TREES,
    UNROOTED,
    title="TE-CCL",
    summary="Chunks in epochs of equal length, by an integer program",
    by_size=False,
    most_by_default=0,
)
def te_ccl(problem: Problem) -> BaselineResult:
    """Return the best schedule over some numbers of chunks.

    Raises:
        DoesNotApplyError: there are too many compute nodes for HiGHS, or chunks cannot reach all of them.
    """
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the program takes too long for more than {MOST_NODES} compute nodes")
    best: BaselineResult | None = None
    for chunks in CHUNKS:
        made = solved(problem, chunks)
        if made is not None and (best is None or (made.algbw or 0) > (best.algbw or 0)):
            best = made
        if best is not None and best.algbw == problem.optimum.algbw:
            break
    if best is None:
        raise DoesNotApplyError(f"HiGHS finds no schedule if binary columns times epochs may be at most {MOST_WORK}")
    return best


def solved(problem: Problem, chunks: int, *, searched: int = SEARCHED) -> BaselineResult | None:
    """Return the schedule with this number of chunks, with a note that states the gap.

    Args:
        problem: an allgather, a reduce-scatter or an allreduce.
        chunks: the number of equal chunks of the shard of each node.
        searched: the most nodes of the search tree for each number of epochs.

    Returns:
        The schedule; None if the program is too large, or HiGHS found none.

    Raises:
        DoesNotApplyError: chunks cannot reach all compute nodes through switches and compute nodes that take part.
    """
    made: list[_Found] = []

    def allgather(each: Problem) -> Part:
        found = _fastest(each, chunks, searched)
        made.append(found)
        return forest(each, [LogicalTree(root, each.share / chunks, tuple(edges)) for root, edges in found.trees])

    try:
        schedule = schedule_of(problem, allgather)
    except NotFoundError:
        return None
    epochs = max(found.epochs for found in made)
    gap = max(1 - Fraction(found.not_excluded, found.epochs) for found in made)
    note = f"{quality(gap, searched, chunks)} and {epochs} epochs; the algbw is that of the epochs"
    return timed_result(problem, schedule, [found.time * problem.share / chunks for found in made], note)


@dataclass(frozen=True)
class _Found:
    """A solution.

    Attributes:
        epochs: the number of epochs.
        not_excluded: the least number for which a solution is not excluded.
        length: the length of an epoch, if a chunk takes the time 1 / bandwidth.
        trees: the root of each chunk, and the routes of its sends, each after the one that reaches its source.
    """

    epochs: int
    not_excluded: int
    length: Fraction
    trees: list[tuple[int, list[Path]]]

    @property
    def time(self) -> Fraction:
        """The time of all epochs, if a chunk takes the time 1 / bandwidth."""
        return self.epochs * self.length


def _fastest(problem: Problem, chunks: int, searched: int) -> _Found:
    """Return the faster of the solutions for long and for short epochs."""
    routes, bandwidths = routes_of_pairs(problem), problem.routes.bandwidths
    seconds = [max(1 / bandwidths[link] for link in pairwise(route)) for route in routes.values()]
    lengths = sorted({max(seconds, default=Fraction(1)), min(seconds, default=Fraction(1))}, reverse=True)
    grids = [_Grid.of(problem, routes, length) for length in lengths]
    found = [each for grid in grids if (each := _fewest_epochs(problem, grid, chunks, searched)) is not None]
    if not found:
        raise NotFoundError
    return min(found, key=lambda each: each.time)


@dataclass(frozen=True)
class _Grid:
    """The pairs that may send, on a grid of epochs.

    Attributes:
        routes: the route of each pair.
        length: the length of an epoch, if a chunk takes the time 1 / bandwidth.
        delays: the number of epochs that a chunk takes over each pair.
        nearest: after how many epochs a chunk of one member can be at another.
    """

    routes: Mapping[tuple[int, int], Path]
    length: Fraction
    delays: Mapping[tuple[int, int], int]
    nearest: Mapping[tuple[int, int], int]

    @classmethod
    def of(cls, problem: Problem, routes: Mapping[tuple[int, int], Path], length: Fraction) -> "_Grid":
        """Return the grid of epochs of this length."""
        bandwidths = problem.routes.bandwidths
        delays = {
            pair: max(ceil(1 / (bandwidths[link] * length)) for link in pairwise(route))
            for pair, route in routes.items()
        }
        return cls(routes, length, delays, _nearest(problem.members, delays))


def _nearest(members: Sequence[int], delays: Mapping[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    """Return after how many epochs a chunk of one member can be at another (Floyd and Warshall)."""
    found = {(node, node): 0 for node in members} | dict(delays)
    for middle, source, target in product(members, repeat=3):
        if (source, middle) in found and (middle, target) in found:
            through = found[source, middle] + found[middle, target]
            found[source, target] = min(found.get((source, target), through), through)
    if len(found) < len(members) ** 2:
        raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
    return found


def _fewest_epochs(problem: Problem, grid: _Grid, chunks: int, searched: int) -> _Found | None:
    """Return a solution with the fewest epochs for which HiGHS finds one; None if it finds none in its limits."""
    gathered = NodeDemand(ranks=problem.demand.ranks)
    whole = len(problem.members) * chunks / solve(problem.topology, gathered).algbw
    not_excluded = least = max(ceil(whole / grid.length), *grid.nearest.values())
    for epochs in range(least, least + _MORE_EPOCHS + 1):
        program = _Program(problem, grid, chunks, epochs)
        if program.work > MOST_WORK:
            break
        trees, is_excluded = program.solved(searched)
        if trees is not None:
            return _Found(epochs, not_excluded, grid.length, trees)
        not_excluded += is_excluded and not_excluded == epochs
    return None


@dataclass(frozen=True)
class _Start:
    """A column: a chunk begins to cross a pair at an epoch."""

    chunk: int
    pair: tuple[int, int]
    epoch: int


class _Program:
    """The program for a number of epochs.

    Attributes:
        work: the number of columns times epochs.
    """

    def __init__(self, problem: Problem, grid: _Grid, chunks: int, epochs: int) -> None:
        self._grid, self._epochs, self._bandwidths = grid, epochs, problem.routes.bandwidths
        self._owners = [member for member in problem.members for _ in range(chunks)]
        self._starts = list(self._possible())
        self.work = len(self._starts) * epochs

    def _possible(self) -> Iterator[_Start]:
        """Yield the columns that can be 1: the chunk can be at the source, and reaches the target in time."""
        for chunk, owner in enumerate(self._owners):
            for pair, delay in self._grid.delays.items():
                if pair[1] != owner:
                    first, last = self._grid.nearest[owner, pair[0]], self._epochs - delay
                    yield from (_Start(chunk, pair, epoch) for epoch in range(first, last + 1))

    def solved(self, searched: int) -> tuple[list[tuple[int, list[Path]]] | None, bool]:
        """Return the trees of a solution, or None, and whether it is proven that there is none."""
        program = IntegerProgram()
        columns = {start: program.add_column(upper=1.0, whole=True) for start in self._starts}
        self._add_arrivals(program, columns)
        self._add_capacities(program, columns)
        found = program.solve(searched)
        if found.values is None:
            return None, found.complete
        sends: list[list[tuple[int, Path]]] = [[] for _ in self._owners]
        for start, column in columns.items():
            if found.values[column] > HALF:
                sends[start.chunk].append((start.epoch, self._grid.routes[start.pair]))
        in_order = ([route for _, route in sorted(each)] for each in sends)
        return list(zip(self._owners, in_order, strict=True)), False

    def _add_arrivals(self, program: IntegerProgram, columns: Mapping[_Start, int]) -> None:
        """Let each chunk reach each node once, and leave a node only after that."""
        arriving: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for start, column in columns.items():
            end = start.epoch + self._grid.delays[start.pair]
            arriving.setdefault((start.chunk, start.pair[1]), []).append((end, column))
        for ends in arriving.values():
            program.add_row({column: 1.0 for _, column in ends}, 1.0, 1.0)
        for start, column in columns.items():
            source = start.pair[0]
            if source != self._owners[start.chunk]:
                before = {each: -1.0 for end, each in arriving[start.chunk, source] if end <= start.epoch}
                program.add_row({column: 1.0} | before, upper=0.0)

    def _add_capacities(self, program: IntegerProgram, columns: Mapping[_Start, int]) -> None:
        """Let each link carry, in each window, only as many chunks as its bandwidth allows."""
        crossing: dict[tuple[int, int], list[_Start]] = {}
        for start in columns:
            for link in pairwise(self._grid.routes[start.pair]):
                crossing.setdefault(link, []).append(start)
        for link, starts in crossing.items():
            each_epoch = self._bandwidths[link] * self._grid.length
            window = ceil(1 / each_epoch)
            most = floor(window * each_epoch)
            for first in range(max(1, self._epochs - window + 1)):
                row = {columns[start]: 1.0 for start in starts if first <= start.epoch < first + window}
                if len(row) > most:
                    program.add_row(row, upper=most)
