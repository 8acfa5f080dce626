"""Compare the optimum of a collective with well-known algorithms and with schedules from files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.baselines.baseline import Baseline, DoesNotApplyError, Problem
from forestcoll.baselines.table import baselines_named
from forestcoll.collective import Collective, collective_named
from forestcoll.comparison.reasons import TIE, reason_for
from forestcoll.comparison.value import Comparison, Row, Skipped
from forestcoll.errors import InputError
from forestcoll.progress import SILENT, Progress
from forestcoll.proof import Bound
from forestcoll.ranks import RanksLike
from forestcoll.request import Demand, Request
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.steps.shape import StepShape
from forestcoll.schedule.trees.shape import TreeShape
from forestcoll.simulation import Costs, Point, simulate
from forestcoll.solver.generate import schedule_of
from forestcoll.solver.optimum import solve
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.units import has_known_size
from forestcoll.verification import certified, verify
from forestcoll.verification.reading import read_verified

OWN = "forestcoll"
"""The name of the row with the schedule of `generate`. This row is always there."""

SIZES = (2**20, 2**24, 2**27, 2**30)
"""The sizes of M in bytes for which times are simulated by default."""


def compare(  # noqa: PLR0913 (the collective, and what to compare)
    topology: TopologyLike,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    sizes: Sequence[int] = SIZES,
    baselines: Iterable[str] | None = None,
    against: Iterable[str | os.PathLike[str]] = (),
    costs: Costs | None = None,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare the optimum of a collective with well-known algorithms and with schedules from files.

    Every schedule is verified first.

    Args:
        topology: as for `optimum`.
        collective: an allgather, a reduce-scatter or an allreduce.
        ranks: as for `optimum`.
        sizes: the sizes of M for which times are simulated, in bytes; none are if the size in bytes of the network's
            bandwidth unit is not known.
        baselines: the names of the algorithms; all that apply if None. The optimum is always compared.
        against: files with schedules of the same collective on the same network.
        costs: the costs of a send for the simulation.
        progress: receives the stages of the work.

    Returns:
        The comparison.

    Raises:
        InputError: an argument is not valid, or a file holds a schedule of another collective or network.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring", "two-level"])
        >>> [(row.name, str(row.algbw)) for row in found.rows]
        [('forestcoll', '1040/3'), ('two-level', '2400/7'), ('nccl-ring', '640/3')]
    """
    wanted = _wanted(collective)
    chosen = baselines_named(None if baselines is None else [name for name in baselines if name != OWN])
    solution = solve(topology, Request.of(wanted, ranks), progress=progress)
    best = solution.optimum
    rows = _Rows(best.topology, best.demand, best.bound, tuple(sizes), costs)
    rows.add(OWN, schedule_of(solution, progress=progress))
    problem, skipped = Problem(best.topology, best.demand), []
    for baseline in chosen:
        progress.begin(f"comparing with {baseline.name}")
        try:
            _add_baseline(rows, baseline, problem)
        except DoesNotApplyError as error:
            skipped.append(Skipped(baseline.name, str(error)))
    for file in against:
        rows.add(os.fspath(file), _from_file(file, best.topology, best.demand, progress))
    return rows.comparison(skipped)


def _wanted(collective: Collective | str) -> Collective:
    wanted = collective_named(collective)
    if wanted.has_root:
        raise InputError(
            f"compare has no algorithms for {wanted.with_article}; use an allgather, a reduce-scatter or an allreduce"
        )
    return wanted


def _add_baseline(rows: "_Rows", baseline: Baseline, problem: Problem) -> None:
    """Add the row of an algorithm. Raises `DoesNotApplyError` if there is none."""
    if problem.collective not in baseline.collectives:
        raise DoesNotApplyError(f"not an algorithm for {problem.collective.with_article}")
    schedule, overhead = baseline.make(problem), baseline.overhead
    if overhead is None:
        rows.add(baseline.name, schedule)
    else:
        rows.add(baseline.name, schedule, overhead.algbw(problem, schedule), overhead.note)


def _from_file(file: str | os.PathLike[str], topology: Topology, demand: Demand, progress: Progress) -> Schedule:
    """Read and verify a schedule, and check that it answers the same question."""
    schedule, _ = read_verified(file, progress=progress)
    if schedule.demand != demand:
        raise InputError(f"{os.fspath(file)}: a schedule of another collective or other ranks; compare the same ones")
    if _links(schedule.topology) != _links(topology):
        raise InputError(f"{os.fspath(file)}: a schedule for another network; compare schedules of one network")
    return schedule


def _links(topology: Topology) -> dict[tuple[NodeId, NodeId], Fraction]:
    ids = [node.id for node in topology.nodes]
    return {(ids[link.source], ids[link.target]): link.bandwidth for link in topology.links}


def _height(schedule: Schedule) -> int:
    """Return the number of sends one after another, or the number of steps."""
    shape = shape_of(schedule)
    if isinstance(shape, TreeShape):
        return shape.phases * shape.greatest_height
    return shape.steps if isinstance(shape, StepShape) else shape.hops


class _Rows:
    """Collects the rows of a comparison."""

    def __init__(
        self, topology: Topology, demand: Demand, bound: Bound, sizes: tuple[int, ...], costs: Costs | None
    ) -> None:
        self._topology, self._demand, self._bound, self._costs = topology, demand, bound, costs
        self._sizes = sizes if has_known_size(topology.bandwidth_unit) else ()
        self._rows: list[Row] = []

    def add(self, name: str, schedule: Schedule, algbw: Fraction | None = None, note: str = "") -> None:
        """Verify a schedule, and add its row.

        If the algorithm sends more data than the schedule has, `algbw` counts it, and `note` says what it is.
        """
        achieved = certified(verify(schedule)).algbw or Fraction(0)
        algbw = algbw or achieved
        reason = reason_for(schedule, algbw, self._bound, self._demand)
        if name == OWN and reason == TIE:
            reason = "it reaches the bound, so no schedule is faster"
        self._rows.append(
            Row(
                name=name,
                family=schedule.kind,
                schedule=schedule,
                algbw=algbw,
                share=algbw / self._bound.algbw,
                height=_height(schedule),
                times=self._times(schedule, achieved / algbw),
                reason=f"{reason}; {note}" if note else reason,
            )
        )

    def _times(self, schedule: Schedule, factor: Fraction) -> tuple[Point, ...]:
        """Simulate a schedule with `factor` times the data of each size."""
        if not self._sizes:
            return ()
        points = simulate(schedule, [round(size * factor) for size in self._sizes], self._costs)
        return tuple(
            replace(point, size=size, algbw=point.algbw / float(factor), busbw=point.busbw / float(factor))
            for size, point in zip(self._sizes, points, strict=True)
        )

    def comparison(self, skipped: Sequence[Skipped]) -> Comparison:
        """Return the comparison, with the fastest row first."""
        rows = tuple(sorted(self._rows, key=lambda row: -row.algbw))
        return Comparison(self._topology, self._demand, self._bound, rows, tuple(skipped))
