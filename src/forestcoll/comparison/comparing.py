"""Compare the optimum of a collective with well-known algorithms and with schedules from files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from forestcoll.algorithms.baseline import (
    AS_CHOSEN,
    BEST_SETTING,
    OWN,
    BaselineResult,
    Family,
    baselines_named,
    default_baselines,
)
from forestcoll.algorithms.best_schedule import BestSchedule
from forestcoll.algorithms.by_size import NEARLY, BySize
from forestcoll.algorithms.few_trees import few_trees
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem, method_of
from forestcoll.base.errors import InputError, InternalError, listed, require_kind
from forestcoll.base.files import PathLike, as_path
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import has_known_size
from forestcoll.comparison.against.files import ComparedFile, candidates, given_schedule
from forestcoll.comparison.against.program_runs import ProgramRun
from forestcoll.comparison.cuts import loaded_cuts
from forestcoll.comparison.mpi.chosen import algorithms_chosen, choices_text, made_by
from forestcoll.comparison.mpi.rules import LIBRARIES
from forestcoll.comparison.reasons import reaches, reason_for
from forestcoll.comparison.slots import SLOTS, measured_costs
from forestcoll.comparison.value import Comparison, Row, Skipped
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.texts import DemandLike
from forestcoll.nccl.algorithms import BASELINES
from forestcoll.nccl.choice.sources import nccl_table
from forestcoll.nccl.choice.table import Choice, Table
from forestcoll.nccl.settings import LARGE, Setting, own_schedule, proof_of, settings
from forestcoll.runtime.cuda_table import CudaTable, read_cuda_table
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.simulate import Model, simulate
from forestcoll.simulation.sizes import SizesLike, sizes_of
from forestcoll.topology import TopologyLike
from forestcoll.verification import certified, verify

NCCL_ROWS = (AS_CHOSEN, BEST_SETTING)
"""The rows for which NCCL's table is needed."""

LIBRARY_ROWS = (*NCCL_ROWS, *LIBRARIES)
"""The rows of what a library chooses for each size."""

BaselineLike: TypeAlias = str | os.PathLike[str] | Schedule
"""The name of an algorithm, the name of a file, or a schedule."""


SIZES = (2**20, 2**24, 2**27, LARGE)
"""The sizes of M in bytes for which times are simulated by default."""


def compare(  # noqa: PLR0913 (five, a table, and progress)
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    sizes: SizesLike = SIZES,
    baselines: BaselineLike | Iterable[BaselineLike] | None = None,
    costs: Costs | None = None,
    nccl: PathLike | None = None,
    cuda_table: PathLike | None = None,
    progress: Progress = SILENT,
) -> Comparison:
    """Compare the optimum of a collective with well-known algorithms and with schedules from files.

    Every schedule is verified first, and every program is run on symbolic data. The row `forestcoll` has the optimum
    for large data and, for each size, the best schedule for it (`algorithms.by_size`).

    Args:
        topology: as for `optimum`.
        demand: an allgather, a reduce-scatter, an allreduce or an all-to-all, of all or some compute nodes.
        sizes: the sizes of M for which times are simulated, as for `simulate`; none are if the size in bytes of the
            network's bandwidth unit is not known.
        baselines: what the optimum is compared with: names of algorithms; and paths, or texts with a dot or a slash,
            of files with schedules or programs of the same collective on the same network, or with the graphs of NCCL.
            Schedules are compared, too, as `schedule 1` and so on. A schedule or program that is wrong becomes a row
            that is not valid. None for all algorithms that apply and do not take long; by name, there are also `milp`,
            `taccl` and `te-ccl`, and `multitree` and `tacos` on large networks; and `openmpi` and `mpich`: what these
            choose for each size.
        costs: the costs of a send for the simulation.
        nccl: for the row `nccl (as it chooses)`: the path of a `libnccl.so.2`, or a version whose tables are stored,
            such as `2.30`. None for the library that is installed, else the newest stored version.
        cuda_table: a table of `forestcoll bench --cuda --write-table`, for the row `slots (expected)`: the times that a
            model has for time slots on GPUs, with the time of a slot that was measured. None for no such row.
        progress: receives the stages of the work.

    Returns:
        The comparison.

    Raises:
        InputError: an argument is not valid, or a file cannot be read, or is for another collective, other ranks or
            another network.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring", "two-level"])
        >>> [(row.name, str(row.algbw)) for row in found.rows]
        [('forestcoll', '1040/3'), ('two-level', '2400/7'), ('nccl-ring', '640/3')]
    """
    require_kind(costs, Costs | None, "costs", "Costs or None")
    require_kind(nccl, str | os.PathLike | None, "nccl", "the path of a libnccl.so.2, or a version such as '2.30'")
    require_kind(cuda_table, str | os.PathLike | None, "cuda_table", "the name of a file")
    names, others = _named(baselines)
    given = None if names is None else baselines_named(names, LIBRARY_ROWS)
    problem = problem_of(topology, demand, progress)
    _check(problem)
    chosen = default_baselines(len(problem.members)) if given is None else given
    own, bound = _own(problem)
    skipped: list[Skipped] = []
    rows = _Rows(problem, bound, sizes_of(sizes), costs)
    rows.add(OWN, own)
    for baseline in chosen:
        progress.begin(f"comparing with {baseline.name}")
        try:
            made = baseline.result(problem)
            rows.add(baseline.name, made.schedule, made.algbw, made.note)
        except DoesNotApplyError as error:
            skipped.append(Skipped(baseline.name, str(error)))
    progress.begin("finding the best schedule for each size")
    rows.choose_by_size()
    for name in NCCL_ROWS if names is None else (each for each in LIBRARY_ROWS if each in names):
        progress.begin(f"comparing with {name}")
        try:
            rows.add_library(name, nccl)
        except DoesNotApplyError as error:
            skipped.append(Skipped(name, str(error)))
    if cuda_table is not None:
        progress.begin("comparing with slots")
        try:
            rows.add_slots(read_cuda_table(as_path(cuda_table), problem.topology))
        except DoesNotApplyError as error:
            skipped.append(Skipped(SLOTS, str(error)))
    count = 0
    for other in others:
        if isinstance(other, Schedule):
            count += 1
            found, left_out = [given_schedule(f"schedule {count}", other, problem)], list[Skipped]()
        else:
            found, left_out = candidates(other, problem, progress)
        skipped += left_out
        for each in found:
            rows.add_candidate(each)
    return rows.comparison(skipped)


def _own(problem: Problem) -> tuple[Schedule, Bound]:
    """Return the schedule that reaches the optimum, and the bound."""
    made = method_of(None, problem.collective, {}).generated(problem)
    if made.optimum is None:
        raise InternalError("trees and flows have an optimum")
    return made.schedule, made.optimum.bound


def _named(
    baselines: BaselineLike | Iterable[BaselineLike] | None,
) -> tuple[list[str] | None, list[BaselineLike]]:
    """Return the names of algorithms, None for all of them, and the files and schedules."""
    if baselines is None:
        return None, []
    several = [baselines] if isinstance(baselines, str | os.PathLike | Schedule) else baselines
    names: list[str] = []
    others: list[BaselineLike] = []
    what = "the name of an algorithm, the name of a file, or a schedule"
    for each in listed(several, str | os.PathLike | Schedule, "baselines", what):
        if isinstance(each, str) and not {".", "/", os.sep} & set(each):
            names.append(each)
        else:
            others.append(each)
    return [name for name in names if name != OWN], others


def _check(problem: Problem) -> None:
    if problem.collective not in COMPARED:
        named = problem.collective.with_article
        raise InputError(f"compare has no algorithms for {named}; use one of {', '.join(COMPARED)}")
    if problem.demand.shards is not None:
        raise InputError("compare needs equal shards; leave shards out")
    if problem.demand.matrix is not None:
        raise InputError("compare needs an all-to-all of equal parts; leave the demand matrix out")


@dataclass(frozen=True)
class _Measured:
    """What a row states of a schedule or a program.

    Attributes:
        family: the kind of the schedule, or `program`.
        algbw: the algbw.
        height: the most sends one after another; None if this is not known.
        loads: the part of M that crosses each link.
        times: the simulated times.
        schedule: the schedule; None for a program.
    """

    family: str
    algbw: Fraction
    height: int | None
    loads: Sequence[Fraction]
    times: tuple[Point, ...]
    schedule: Schedule | None = None


class _Rows:
    """Collects the rows of a comparison."""

    def __init__(self, problem: Problem, bound: Bound, sizes: tuple[int, ...], costs: Costs | None) -> None:
        self._problem, self._bound, self._costs = problem, bound, costs or Costs()
        self._given_costs = costs
        self._sizes = sizes if has_known_size(problem.topology.bandwidth_unit) else ()
        self._rows: list[Row] = []

    def add(self, name: str, schedule: Schedule, algbw: Fraction | None = None, note: str = "") -> None:
        """Verify a schedule, and add its row.

        If the algorithm sends more data than the schedule has, `algbw` counts it, and `note` says what it is.
        """
        achieved = certified(verify(schedule)).algbw or Fraction(0)
        algbw = algbw or achieved
        times = self._times(schedule, achieved / algbw)
        found = _Measured(schedule.kind, algbw, shape_of(schedule).sends, link_loads(schedule).exact, times, schedule)
        self._add(name, found, note)

    def choose_by_size(self) -> None:
        """Let the first row have the best schedule for each size: also that of an algorithm that searches for long."""
        if not self._sizes:
            return
        known = {row.name: row.schedule for row in self._rows[1:] if row.schedule is not None}
        by_size = BySize(self._problem, self._costs, known=known)
        best = tuple(self._best(by_size.at(size), place) for place, size in enumerate(self._sizes))
        for schedule in {each.method: each.schedule for each in best}.values():
            certified(verify(schedule))
        self._rows[0] = replace(self._rows[0], times=tuple(each.point for each in best), best=best)

    def _best(self, best: BestSchedule, place: int) -> BestSchedule:
        """Return the best schedule, or the one of a row that is clearly faster for the size at a place."""
        for row in self._rows[1:]:
            point = row.times[place]
            if row.schedule is not None and point.seconds * NEARLY < best.point.seconds:
                best = replace(best, method=row.name, schedule=row.schedule, point=point)
        return best

    def add_slots(self, table: CudaTable) -> None:
        """Add the row of time slots on GPUs, with the time of a slot in a table.

        Raises:
            DoesNotApplyError: the collective has no trees, only some ranks take part, or the table has no slots of it.
        """
        problem = self._problem
        if problem.collective.is_personalised:
            raise DoesNotApplyError(f"slots are of trees, and {problem.collective.with_article} has none")
        if len(problem.demand.members(problem.topology)) < len(problem.topology.compute):
            raise DoesNotApplyError("slots are of all compute nodes")
        schedule = few_trees(problem.topology.without_abilities(), Demand(problem.collective))
        if not isinstance(schedule, TreeSchedule):
            raise InternalError(f"few trees are a {schedule.kind} schedule")
        costs = measured_costs(table, problem.collective, schedule)
        self.add(SLOTS, schedule, note=f"a model: a slot takes {costs.alpha_us:.3g} us, as in the table of the machine")
        points = simulate(schedule, self._sizes, costs, Model.SLOTS)
        self._rows[-1] = replace(self._rows[-1], times=points)

    def add_library(self, name: str, nccl: PathLike | None) -> None:
        """Add the row of what a library chooses. Raises `DoesNotApplyError` if this is not known or has no schedule."""
        if name in LIBRARIES:
            self._add_mpi(name)
        else:
            (self.add_chosen if name == AS_CHOSEN else self.add_best_setting)(nccl_table(self._problem, nccl))

    def add_chosen(self, table: Table) -> None:
        """Add the row of what NCCL chooses; its algbw is that of the choice for the largest size."""
        choices = [self._choice(table, size) for size in self._sizes or (LARGE,)]
        rows = [self._row_of(each.algorithm, table) for each in choices]
        _, largest = max(zip(choices, rows, strict=True), key=lambda each: each[0].size)
        self._add_choices(replace(largest, name=AS_CHOSEN, table=table.source), choices, rows)

    def add_best_setting(self, table: Table) -> None:
        """Add the row of NCCL's best setting for each size; its algbw is the greatest for large data."""
        tried = [(each, self._row_of_setting(each, table)) for each in settings(self._problem, table)]
        if not tried:
            raise DoesNotApplyError("no algorithm that NCCL offers has a schedule here")
        setting, largest = max(tried, key=lambda each: each[0].algbw)
        reason = f"{largest.reason}; {setting.text}: {proof_of(self._problem, setting, self._bound.algbw)}"
        best = [min(tried, key=lambda each: each[1].times[place].seconds) for place in range(len(self._sizes))]
        texts, rows = tuple(each.text for each, _ in best), [row for _, row in best]
        tables = (replace(table, channels=each.channels or table.channels) for each, _ in best)
        each_size = zip(tables, self._sizes, best, strict=True)
        choices = [self._choice(one, size, each.algorithm) for one, size, (each, _) in each_size]
        found = replace(largest, name=BEST_SETTING, reason=reason, settings=texts, table=table.source)
        self._add_choices(found, choices, rows)

    def _add_mpi(self, library: str) -> None:
        """Add the row of what an MPI library chooses; its algbw is that of the choice for the largest size."""
        sizes = self._sizes or (LARGE,)
        algorithms = algorithms_chosen(library, self._problem, sizes)
        text = choices_text(library, algorithms, sizes)
        try:
            made = {each: self._row_of_result(each, made_by(each, self._problem)) for each in dict.fromkeys(algorithms)}
        except DoesNotApplyError as error:
            raise DoesNotApplyError(f"{text}; {error}") from None
        rows = [made[each] for each in algorithms]
        times = tuple(row.times[place] for place, row in enumerate(rows[: len(self._sizes)]))
        largest = rows[sizes.index(max(sizes))]
        chosen = tuple(algorithms[: len(times)])
        self._rows.append(
            replace(largest, name=library, times=times, algorithms=chosen, reason=f"{largest.reason}; {text}")
        )

    @property
    def _kind(self) -> Collective:
        return self._problem.collective

    def _choice(self, table: Table, size: int, algorithm: str | None = None) -> Choice:
        """Return what NCCL uses for a size. Raises `DoesNotApplyError` if its table has no entry for the collective."""
        found = table.choice(self._kind, size, algorithm)
        if found is None:
            raise DoesNotApplyError(f"NCCL's table has no entry for {self._kind.with_article}")
        return found

    def _add_choices(self, found: Row, choices: Sequence[Choice], rows: Sequence[Row]) -> None:
        """Add a row that has for each size the time of another one."""
        times = tuple(rows[place].times[place] for place in range(len(self._sizes)))
        self._rows.append(replace(found, times=times, choices=tuple(choices[: len(times)])))

    def _row_of(self, algorithm: str, table: Table) -> Row:
        """Return the row of an algorithm of NCCL, which may be one of the comparison."""
        name = BASELINES.get(algorithm, algorithm)
        for row in self._rows if not table.graphs else ():
            if row.name == name:
                return row
        return self._row_of_result(name, own_schedule(self._problem, algorithm, table))

    def _row_of_setting(self, setting: Setting, table: Table) -> Row:
        """Return the row of a setting of NCCL."""
        if setting.is_reordered or setting.channels is not None:
            return self._row_of_result(setting.text, setting.made)
        return self._row_of(setting.algorithm, table)

    def _row_of_result(self, name: str, made: BaselineResult) -> Row:
        self.add(name, made.schedule, made.algbw, made.note)
        return self._rows.pop()

    def add_candidate(self, candidate: ComparedFile) -> None:
        """Add the row of a file."""
        found = candidate.found
        if found is None:
            self._rows.append(
                Row(
                    candidate.name,
                    candidate.family,
                    None,
                    Fraction(0),
                    Fraction(0),
                    None,
                    (),
                    candidate.fault,
                    valid=False,
                )
            )
        elif isinstance(found, ProgramRun):
            algbw, loads = found.algbw, found.loads  # first, because they report sends without a route
            times = found.points(self._sizes, self._given_costs)
            notes = candidate.note, "" if self._given_costs else found.blocks_note
            note = "; ".join(filter(None, notes))
            self._add(candidate.name, _Measured(candidate.family, algbw, found.height, loads, times), note)
        else:
            self.add(candidate.name, found, note=candidate.note)

    def _add(self, name: str, found: _Measured, note: str) -> None:
        share = found.algbw / self._bound.algbw
        cuts = loaded_cuts(self._problem, found.loads, self._bound)
        whole = 1 / found.algbw if found.family == Family.STEPS else None
        if share == 1:
            reason = f"{'' if name == OWN else 'a tie: '}{reaches(self._bound)}"
        else:
            reason = reason_for(self._problem, found.loads, cuts, share, whole)
        self._rows.append(
            Row(
                name=name,
                family=found.family,
                schedule=found.schedule,
                algbw=found.algbw,
                share=share,
                height=found.height,
                times=found.times,
                reason=f"{reason}; {note}" if note else reason,
                cuts=tuple(each.traffic for each in cuts),
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
        problem = self._problem
        return Comparison(problem.topology, problem.demand, self._bound, rows, tuple(skipped), self._costs)
