"""From the sends of an algorithm at each step to a schedule of steps on any network, with its exact algbw.

An algorithm is written for an allgather, or for an all-to-all. It names ranks, which count the compute nodes that take
part, in the order of the file. A reduce-scatter is the reversed allgather on the transposed network. An allreduce is
both, one after the other.

If an algorithm does not choose the route of a send, it is the one of `Routes.find_any`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import NO_ROUTE, StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.graph.routes import Path

MOST_LINKS = 2**22
"""The most links that all routes of a schedule may cross together, because of memory."""


class ShardSend(NamedTuple):
    """Shards, or the same part of each, that a rank sends to another at a step.

    Attributes:
        source: the rank that sends.
        target: the rank that receives.
        shards: the ranks whose shards it sends.
        path: the nodes of the route, with both ends; None for the usual route.
        part: the begin and the end of the part that it sends.
    """

    source: int
    target: int
    shards: Sequence[int] | IntArray
    path: Path | None = None
    part: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))


Steps: TypeAlias = Iterable[Iterable[ShardSend]]
"""The sends of each step."""


def step_schedule(problem: Problem, allgather: Callable[[Problem], Steps]) -> StepSchedule:
    """Return the schedule of `problem.collective` made of allgathers.

    Args:
        problem: the problem; its collective is an allgather, a reduce-scatter, an allreduce or an all-to-all.
        allgather: returns the steps of an allgather or, for an all-to-all, its own, on the network of a problem.

    Raises:
        DoesNotApplyError: the routes are too long; or from `allgather`.
    """

    def made(topology: Topology) -> StepSchedule:
        same = topology is problem.topology
        return _broadcast(problem if same else Problem(topology, problem.demand), allgather, Collective.ALLGATHER)

    if problem.collective is Collective.ALL_TO_ALL:
        schedule = _broadcast(problem, allgather, problem.collective)
    else:
        schedule = from_allgathers(problem.topology, problem.collective, made)
    return replace(schedule, algbw=step_shape(schedule).algbw)


def _broadcast(problem: Problem, steps: Callable[[Problem], Steps], collective: Collective) -> StepSchedule:
    columns = _Columns(problem)
    for step, sends in enumerate(steps(problem)):
        for send in sends:
            columns.add(step, send)
    phase = StepPhase(PhaseOp.BROADCAST, columns.transfers())
    routes = Rows.of(list(columns.routes))
    ranks = problem.demand.ranks
    return StepSchedule(problem.topology, collective, (phase,), ranks=ranks, routes=routes)


class _Columns:
    """Collects sends; each shard of a send becomes a transfer."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._members = problem, np.array(problem.members, dtype=np.int32)
        self._sends: list[tuple[int, ...]] = []
        self._points: dict[Fraction, int] = {}
        self._shards: list[Sequence[int] | IntArray] = []
        self._links = 0
        self.routes: dict[Path, int] = {}

    def add(self, step: int, send: ShardSend) -> None:
        """Add the transfers of a send."""
        source, target = (self._problem.members[rank] for rank in (send.source, send.target))
        path = send.path or self._problem.routes.find_any(source, target)
        route = NO_ROUTE if len(path) == 2 else self._number_of(path)
        low, high = (self._points.setdefault(point, len(self._points)) for point in send.part)
        self._sends.append((step, source, target, route, low, high, len(send.shards)))
        self._shards.append(send.shards)

    def _number_of(self, path: Path) -> int:
        if path not in self.routes:
            self._links += len(path) - 1
            if self._links > MOST_LINKS:
                raise DoesNotApplyError(f"the routes of all sends together would cross more than {MOST_LINKS} links")
            self.routes[path] = len(self.routes)
        return self.routes[path]

    def transfers(self) -> Transfers:
        """Return all transfers, by step."""
        rows = np.array(self._sends, dtype=np.int32).reshape(-1, 7)
        steps, sources, targets, routes, lows, highs, _ = np.repeat(rows, rows[:, -1], axis=0).T
        return Transfers.by_step(
            steps,
            count=int(steps.max(initial=-1)) + 1,
            shards=self._members[np.concatenate([*self._shards, np.zeros(0, dtype=np.int64)]).astype(np.int64)],
            sources=sources,
            targets=targets,
            lows=lows,
            highs=highs,
            points=list(self._points),
            routes=routes,
        )


def exchanges(partners: Iterable[Sequence[int]]) -> Iterator[list[ShardSend]]:
    """Yield steps at which each rank sends all shards that it has to its partner, and partners exchange.

    Args:
        partners: for each step, the partner of each rank.
    """
    held: list[IntArray] | None = None
    for of_rank in partners:
        held = held or [np.array([rank]) for rank in range(len(of_rank))]
        yield [ShardSend(rank, partner, held[rank]) for rank, partner in enumerate(of_rank)]
        held = [np.concatenate([held[rank], held[partner]]) for rank, partner in enumerate(of_rank)]


def bits_of(count: int) -> int:
    """Return the least number of bits that can count `count` ranks: the logarithm to base 2, rounded up."""
    return (count - 1).bit_length()


def require_power_of_two(problem: Problem, algorithm: str) -> int:
    """Return the number of ranks. Raises `DoesNotApplyError` if it is not a power of two."""
    count = len(problem.members)
    if count & (count - 1):
        raise DoesNotApplyError(f"{algorithm} needs a power of two, and there are {count} compute nodes")
    return count
