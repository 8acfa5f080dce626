"""TE-CCL: a flow of chunks in time, in epochs of equal length, by an integer program; an all-to-all by a linear one.

Chunk c begins to cross the pair of ranks (u, v) at epoch k if x[c, u, v, k] = 1, and is at v after d(u, v) epochs. Ranks
keep and copy chunks; switches pass them on. For K epochs of length t, and chunks of length 1:

    sum over u and k of x[c, u, v, k] = 1                               for each chunk c and each v without it
    x[c, u, v, k] <= sum over w and j <= k - d(w, u) of x[c, w, u, j]   for each u that does not start with c
    sum over c, pairs whose route uses e, and a window of w epochs of x <= b(e) w t, rounded down

for each link e and each window of w = 1 / (b(e) t) epochs, rounded up. An epoch is as long as a chunk takes on the
fastest link or, if the program would be too large, on the slowest one. K is the least number of epochs for which HiGHS
finds a solution. It stops after a number of nodes of its search tree, not after a time, so that the result is the same
on each machine; the gap states how many epochs are not excluded, by HiGHS or by the optimum.

An all-to-all copies nothing, so its program is linear: flows of each source in time. Here, it has the steps of the
method `steps`, whose epochs may have different lengths, for the fewest steps and up to two more.

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
from forestcoll.algorithms.timed import quality, timed_result
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.solver.exact_lp.integer_program import IntegerProgram
from forestcoll.solver.generation.exchange_steps import stepwise_all_to_all
from forestcoll.solver.optimum import solve
from forestcoll.topology.graph.routes import Path

MOST_NODES = 16
"""The most compute nodes."""

MOST_COLUMNS = 12000
"""The most binary columns of a program that is tried."""

CHUNKS = (1, 2)
"""The numbers of chunks of each node that are tried."""

SEARCHED = 20
"""The most nodes of the search tree of HiGHS for each number of epochs."""

_MORE_EPOCHS = 4
"""How many more epochs than the fewest are tried."""

_HALF = 0.5
"""A binary column above this value is 1."""


@baseline(
    "te-ccl",
    Family.TREES,
    COMPARED,
    title="TE-CCL",
    summary="A flow of chunks in time by an integer program, or of an all-to-all by a linear program",
    by_size=False,
    most_by_default=0,
)
def te_ccl(problem: Problem) -> BaselineResult:
    """Return the best schedule over some numbers of chunks, or of steps of an all-to-all.

    Raises:
        DoesNotApplyError: there are too many compute nodes for HiGHS, chunks cannot reach all of them, or an all-to-all
            is on a network with switches.
    """
    if problem.collective is Collective.ALL_TO_ALL:
        return _exchanged(problem)
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the program takes too long for more than {MOST_NODES} compute nodes")
    found = [made for chunks in CHUNKS if (made := solved(problem, chunks)) is not None]
    if not found:
        raise DoesNotApplyError(f"HiGHS finds no schedule with at most {MOST_COLUMNS} binary columns")
    return max(found, key=lambda made: made.algbw or 0)


def _exchanged(problem: Problem) -> BaselineResult:
    """Return the all-to-all of the linear program."""
    if problem.demand.ranks is not None:
        raise DoesNotApplyError("the linear program is for an all-to-all of all compute nodes")
    try:
        fewest = stepwise_all_to_all(problem.topology)
        more = [stepwise_all_to_all(problem.topology, steps=fewest.steps + extra) for extra in (1, 2)]
    except InputError as error:
        raise DoesNotApplyError(str(error).partition(": ")[2]) from None
    best = max((fewest, *more), key=lambda made: step_shape(made).algbw or 0)
    return BaselineResult(best, note=f"the linear program has an optimum for {best.steps} steps of any lengths")


def solved(problem: Problem, chunks: int, *, searched: int = SEARCHED) -> BaselineResult | None:
    """Return the schedule with this number of chunks, with a note that states the gap.

    Args:
        problem: an allgather, a reduce-scatter or an allreduce.
        chunks: the number of equal chunks of the shard of each node.
        searched: the most nodes of the search tree for each number of epochs.

    Returns:
        The schedule; None if the program has too many columns, or HiGHS found none.

    Raises:
        DoesNotApplyError: chunks cannot reach all compute nodes through switches and compute nodes that take part.
    """
    gaps, times, epochs = [], [], []

    def allgather(each: Problem) -> Part:
        found = _fewest_epochs(each, chunks, searched)
        gaps.append(1 - Fraction(found.not_excluded, found.epochs))
        times.append(found.epochs * found.length * each.share / chunks)
        epochs.append(found.epochs)
        return forest(each, [LogicalTree(root, each.share / chunks, tuple(edges)) for root, edges in found.trees])

    try:
        schedule = schedule_of(problem, allgather)
    except _NotFoundError:
        return None
    size = f"{chunks} chunk{'s' * (chunks > 1)} of each node and {max(epochs)} epochs"
    note = f"{quality(max(gaps), searched)} for {size}; the algbw is that of the epochs"
    return timed_result(problem, schedule, times, note)


class _NotFoundError(Exception):
    """The program is too large, or HiGHS found no solution in its limit."""


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


def _fewest_epochs(problem: Problem, chunks: int, searched: int) -> _Found:
    """Return a solution with the fewest epochs for which HiGHS finds one."""
    routes = _routes(problem)
    bandwidths = problem.routes.bandwidths
    whole = len(problem.members) * chunks / solve(problem.topology, problem.demand).algbw
    seconds = {max(1 / bandwidths[link] for link in pairwise(route)) for route in routes.values()}
    for length in sorted({min(seconds), max(seconds)}):
        grid = _Grid.of(problem, routes, length)
        not_excluded = least = max(ceil(whole / length), *grid.nearest.values())
        for epochs in range(least, least + _MORE_EPOCHS + 1):
            program = _Program(problem, grid, chunks, epochs)
            if len(program.columns) > MOST_COLUMNS:
                break
            trees, is_excluded = program.solved(searched)
            if trees is not None:
                return _Found(epochs, not_excluded, length, trees)
            not_excluded += is_excluded and not_excluded == epochs
    raise _NotFoundError


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


def _routes(problem: Problem) -> dict[tuple[int, int], Path]:
    found = {}
    for source, target in product(problem.members, repeat=2):
        route = problem.routes.find(source, target)
        if route is not None:
            found[source, target] = route
    return found


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


@dataclass(frozen=True)
class _Start:
    """A column: a chunk begins to cross a pair at an epoch."""

    chunk: int
    pair: tuple[int, int]
    epoch: int


class _Program:
    """The program for a number of epochs.

    Attributes:
        columns: the number of each column.
    """

    def __init__(self, problem: Problem, grid: _Grid, chunks: int, epochs: int) -> None:
        self._grid, self._epochs = grid, epochs
        self._owners = [member for member in problem.members for _ in range(chunks)]
        self._program = IntegerProgram()
        self.columns: dict[_Start, int] = {}
        self._arriving: dict[tuple[int, int], list[_Start]] = {}
        for start in self._starts():
            self.columns[start] = self._program.add_column(upper=1.0, whole=True)
            self._arriving.setdefault((start.chunk, start.pair[1]), []).append(start)
        if len(self.columns) <= MOST_COLUMNS:
            self._add_arrivals()
            self._add_capacities(problem.routes.bandwidths)

    def _starts(self) -> Iterator[_Start]:
        """Yield the columns that can be 1: the chunk can be at the source, and reaches the target in time."""
        for chunk, owner in enumerate(self._owners):
            for pair, delay in self._grid.delays.items():
                if pair[1] != owner:
                    first, last = self._grid.nearest[owner, pair[0]], self._epochs - delay
                    yield from (_Start(chunk, pair, epoch) for epoch in range(first, last + 1))

    def _add_arrivals(self) -> None:
        """Let each chunk reach each node once, and leave a node only after that."""
        for starts in self._arriving.values():
            self._program.add_row({self.columns[each]: 1.0 for each in starts}, 1.0, 1.0)
        for start, column in self.columns.items():
            source = start.pair[0]
            if source != self._owners[start.chunk]:
                before = [
                    each
                    for each in self._arriving[start.chunk, source]
                    if each.epoch + self._grid.delays[each.pair] <= start.epoch
                ]
                self._program.add_row({column: 1.0} | {self.columns[each]: -1.0 for each in before}, upper=0.0)

    def _add_capacities(self, bandwidths: Mapping[tuple[int, int], Fraction]) -> None:
        """Let each link carry, in each window, only as many chunks as its bandwidth allows."""
        starts: dict[tuple[int, int], list[_Start]] = {}
        for start in self.columns:
            for link in pairwise(self._grid.routes[start.pair]):
                starts.setdefault(link, []).append(start)
        for link, each in starts.items():
            each_epoch = bandwidths[link] * self._grid.length
            window = ceil(1 / each_epoch)
            most = floor(window * each_epoch)
            for first in range(max(1, self._epochs - window + 1)):
                row = {self.columns[start]: 1.0 for start in each if first <= start.epoch < first + window}
                if len(row) > most:
                    self._program.add_row(row, upper=float(most))

    def solved(self, searched: int) -> tuple[list[tuple[int, list[Path]]] | None, bool]:
        """Return the trees of a solution, or None, and whether it is proven that there is none."""
        found = self._program.solve(searched)
        if found.values is None:
            return None, found.complete
        sends: list[list[tuple[int, Path]]] = [[] for _ in self._owners]
        for start, column in self.columns.items():
            if found.values[column] > _HALF:
                sends[start.chunk].append((start.epoch, self._grid.routes[start.pair]))
        return [
            (owner, [route for _, route in sorted(each)]) for owner, each in zip(self._owners, sends, strict=True)
        ], False
