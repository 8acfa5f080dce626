"""A mixed-integer program in the manner of SCCL: which chunk crosses which pair of nodes at which step.

A chunk reaches each node once. A node sends a chunk only at steps after the one at which it received it. A step takes
as long as its busiest link, and the sum of these times is minimised:

    x[c, (u, v), t] in {0, 1},  r[t] >= 0
    sum over u and t of x[c, (u, v), t] = 1                            for each chunk c and each node v without it
    x[c, (u, v), t] <= sum over w and s < t of x[c, (w, u), s]         for each u that does not start with c
    sum over c and pairs whose route uses e of x[c, pair, t] <= b(e) r[t]    for each link e and each step t
    minimise the sum of r[t]

Source: `msccl/path_encoding.py` of msccl-tools (SCCL, PPoPP 2021), which is for direct links; here, a pair of nodes
that switches join has the widest of the shortest routes. HiGHS proposes a solution, whose time is then computed in
fractions. It need not be optimal: HiGHS stops after a number of nodes of its search tree, and the gap that is left is
stated.

Where it loses: the number of chunks and of steps is fixed, steps have barriers, and the search grows exponentially.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from forestcoll.algorithms.baseline import BaselineResult, Family, baseline
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.timed import HALF, quality, routes_of_pairs
from forestcoll.base.exact import as_float
from forestcoll.demand.collective import UNROOTED, Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.exact_lp.integer_program import IntegerProgram
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.solver.optimum import solve
from forestcoll.topology import Topology
from forestcoll.topology.graph.routes import Path
from forestcoll.topology.graph.walks import hops

_LINK = 2
"""The number of nodes of a route that is one link."""

MOST_NODES = 8
"""The most compute nodes for which the program is solved by default; its time grows exponentially."""

MOST_COLUMNS = 1600
"""The most binary columns of a program that is tried by default."""

MOST_CHUNKS = 4
"""The most chunks of each node that are tried by default."""

SEARCHED = 20
"""The most nodes of the search tree of HiGHS: more seldom find a better schedule, and take much longer.

There is no limit in seconds: with one, the result would depend on the load of the machine.
"""


@baseline(
    "milp",
    Family.STEPS,
    UNROOTED,
    title="the integer program",
    summary="The best schedule of few steps, found by an integer program",
    by_size=False,
    most_by_default=0,
)
def milp(problem: Problem) -> BaselineResult:
    """Return the best schedule over some numbers of chunks and steps.

    Raises:
        DoesNotApplyError: there are more than 8 compute nodes, or some cannot reach others through switches and compute
            nodes that take part.
    """
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the program takes too long for more than {MOST_NODES} compute nodes")
    best: BaselineResult | None = None
    fastest = solve(problem.topology, problem.demand).algbw
    for chunks, steps in _sizes(problem):
        made = solved(problem, chunks, steps)
        if made is not None and (best is None or _algbw(made) > _algbw(best)):
            best = made
        if best is not None and _algbw(best) == fastest:
            break
    if best is None:
        raise DoesNotApplyError(f"HiGHS finds no schedule with at most {MOST_COLUMNS} binary columns")
    return best


def _algbw(made: BaselineResult) -> Fraction:
    return made.schedule.algbw or Fraction(0)


def _sizes(problem: Problem) -> Iterator[tuple[int, int]]:
    """Yield the numbers of chunks and steps that are tried: the fewest steps, and up to two more."""
    pairs = len(_routes(problem))
    fewest = _fewest_steps(problem)
    for chunks in range(1, MOST_CHUNKS + 1):
        for steps in range(fewest, fewest + 3):
            if chunks * steps * pairs * (len(problem.members) - 1) <= MOST_COLUMNS:
                yield chunks, steps


def solved(problem: Problem, chunks: int, steps: int, *, searched: int = SEARCHED) -> BaselineResult | None:
    """Return the schedule that HiGHS proposes, with a note that states the gap.

    Args:
        problem: an allgather, a reduce-scatter or an allreduce.
        chunks: C, the number of equal chunks of the shard of each node.
        steps: S, the number of steps of an allgather; an allreduce has twice as many.
        searched: the most nodes of the search tree.

    Returns:
        The schedule; None if HiGHS found none.
    """
    gaps: list[Fraction] = []
    found = True

    def allgather(topology: Topology) -> StepSchedule:
        nonlocal found
        program = _StepProgram(Problem(topology, problem.demand), chunks, steps)
        transfers, gap = program.solved(searched)
        found = found and transfers is not None
        gaps.append(gap)
        phase = StepPhase(PhaseOp.BROADCAST, transfers or Transfers.of([]))
        return StepSchedule(topology, Collective.ALLGATHER, (phase,), ranks=problem.demand.ranks, routes=program.table)

    schedule = from_allgathers(problem.topology, problem.collective, allgather)
    if not found:
        return None
    schedule = replace(schedule, algbw=step_shape(schedule).algbw)
    of_each_phase = " of each phase" if problem.collective is Collective.ALLREDUCE else ""
    size = f"{steps} step{'s' * (steps > 1)}{of_each_phase}"
    return BaselineResult(schedule, note=f"{quality(max(gaps), searched, chunks)} and {size}")


def _routes(problem: Problem) -> dict[tuple[int, int], Path]:
    """Return the route of each pair of members that has one, by their places."""
    places = {member: place for place, member in enumerate(problem.members)}
    return {(places[source], places[target]): route for (source, target), route in routes_of_pairs(problem).items()}


def _fewest_steps(problem: Problem) -> int:
    """Return the number of steps after which a chunk can be everywhere."""
    after: dict[int, list[int]] = {}
    for source, target in _routes(problem):
        after.setdefault(source, []).append(target)
    most = 0
    for start in range(len(problem.members)):
        steps = hops([start], lambda node: after.get(node, ()))
        if len(steps) < len(problem.members):
            raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
        most = max(most, *steps.values())
    return most


@dataclass(frozen=True, slots=True)
class _Send:
    """A column: a chunk over a pair of places at a step."""

    chunk: int
    pair: tuple[int, int]
    step: int


class _StepProgram:
    """The program of an allgather.

    Attributes:
        table: the routes of the schedule.
    """

    def __init__(self, problem: Problem, chunks: int, steps: int) -> None:
        self._members, self._chunks, self._steps = problem.members, chunks, steps
        self._routes = _routes(problem)
        self._bandwidths = problem.routes.bandwidths
        self._unit = min(self._bandwidths.values())
        self._numbers = {pair: number for number, pair in enumerate(self._routes)}
        self.table = Rows.of(list(self._routes.values()))
        self._program = IntegerProgram()
        self._times = [self._program.add_column(cost=1.0) for _ in range(steps)]
        self._columns = {send: self._program.add_column(upper=1.0, whole=True) for send in self._sends()}
        self._arriving: dict[tuple[int, int], list[_Send]] = {}
        for send in self._columns:
            self._arriving.setdefault((send.chunk, send.pair[1]), []).append(send)
        self._add_arrivals()
        self._add_order()
        self._add_loads()

    def _sends(self) -> Iterator[_Send]:
        for chunk in range(len(self._members) * self._chunks):
            for pair in self._routes:
                if pair[1] != chunk // self._chunks:
                    yield from (_Send(chunk, pair, step) for step in range(self._steps))

    def _add_arrivals(self) -> None:
        """Let each chunk reach each node once."""
        for sends in self._arriving.values():
            self._program.add_row(dict.fromkeys(self._numbered(sends), 1.0), 1.0, 1.0)

    def _add_order(self) -> None:
        """Let a node send a chunk only after it received it."""
        for send, column in self._columns.items():
            source = send.pair[0]
            if source != send.chunk // self._chunks:
                before = [each for each in self._arriving[send.chunk, source] if each.step < send.step]
                self._program.add_row({column: 1.0, **dict.fromkeys(self._numbered(before), -1.0)}, upper=0.0)

    def _add_loads(self) -> None:
        """Let a step take as long as each of its links."""
        sends: dict[tuple[tuple[int, int], int], list[_Send]] = {}
        for send in self._columns:
            for link in pairwise(self._routes[send.pair]):
                sends.setdefault((link, send.step), []).append(send)
        for (link, step), each in sends.items():
            room = -as_float(self._bandwidths[link] / self._unit)
            self._program.add_row({self._times[step]: room, **dict.fromkeys(self._numbered(each), 1.0)}, upper=0.0)

    def _numbered(self, sends: Sequence[_Send]) -> list[int]:
        return [self._columns[send] for send in sends]

    def solved(self, searched: int) -> tuple[Transfers | None, Fraction]:
        """Return the transfers that HiGHS proposes, or None, and the gap: how much faster a solution may be."""
        found = self._program.solve(searched)
        if found.values is None:
            return None, Fraction(1)
        values = found.values
        steps: list[list[Transfer]] = [[] for _ in range(self._steps)]
        for send, column in self._columns.items():
            if values[column] > HALF:
                steps[send.step].append(self._transfer(send))
        time = sum(values[column] for column in self._times)
        gap = Fraction(0) if found.complete else Fraction(max(0.0, 1 - found.bound / time))
        return Transfers.of(step for step in steps if step), gap

    def _transfer(self, send: _Send) -> Transfer:
        owner, part = divmod(send.chunk, self._chunks)
        source, target = (self._members[place] for place in send.pair)
        route = None if len(self._routes[send.pair]) == _LINK else self._numbers[send.pair]
        low, high = Fraction(part, self._chunks), Fraction(part + 1, self._chunks)
        return Transfer(self._members[owner], low, high, source, target, route)
