"""Measures schedules size by size, out of place and in place, and compares them with the bound and a library.

A time is that of the slowest rank for a number of runs, one after the other, divided by their number, as in nccl-tests.
Data is checked in runs of their own, before those that are timed.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.units import BANDWIDTH_UNIT, bytes_per_microsecond, has_known_size
from forestcoll.measurement.bench.libraries import Library, library, library_name
from forestcoll.measurement.bench.operations import Case, RankOperation, case_of
from forestcoll.measurement.bench.request import BenchRequest
from forestcoll.runtime.communicator import Communicator
from forestcoll.runtime.engine.elements import ReduceOp
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.trees import check_runnable
from forestcoll.runtime.environment import pacing_here
from forestcoll.runtime.launch import Launch
from forestcoll.schedule.files import schedule_text
from forestcoll.schedule.schedule import Schedule
from forestcoll.verification.reading import verified_from_document


@dataclass(frozen=True)
class Timing:
    """The runs of one row, in place or out of place.

    Attributes:
        seconds: of each run, on the rank that took longest in all.
        wrong: how many elements of all ranks were wrong; None if nothing was checked.
    """

    seconds: tuple[float, ...]
    wrong: int | None

    @property
    def mean_us(self) -> float:
        """The mean time in microseconds."""
        return statistics.fmean(self.seconds) * 1e6


@dataclass(frozen=True)
class BenchRow:
    """One size, element type and reduction.

    Attributes:
        case: what all ranks did.
        out_of_place: the runs out of place.
        in_place: the runs in place; None if they were left out.
        bound: what no schedule beats, in `unit`; None if no bound is known.
        unit: the unit of bandwidths: that of the topology, or GB/s if its size in bytes is not known.
        other_library: the runs of the library's own collective; None if there is none.
        path: what carried the data.
    """

    case: Case
    out_of_place: Timing
    in_place: Timing | None
    bound: Fraction | None
    unit: str
    other_library: Timing | None
    path: str

    @property
    def timings(self) -> tuple[Timing, ...]:
        """The runs out of place and, if there are some, in place."""
        return (self.out_of_place,) if self.in_place is None else (self.out_of_place, self.in_place)

    def algbw(self, timing: Timing) -> float:
        """Return the size divided by the mean time, in `unit`."""
        return self.case.size / timing.mean_us / float(bytes_per_microsecond(self.unit))

    def busbw(self, timing: Timing) -> float:
        """Return the bus bandwidth, as nccl-tests defines it, in `unit`."""
        return self.algbw(timing) * float(self.case.plan.collective.busbw_factor(self.case.members))

    @property
    def share(self) -> float | None:
        """Which part of the bound was reached, out of place; None if there is no bound."""
        if self.bound is None:
            return None
        return self.algbw(self.out_of_place) / float(self.bound)

    @property
    def speedup(self) -> float | None:
        """How many times longer the library's own collective takes; None if there is none."""
        return None if self.other_library is None else self.other_library.mean_us / self.out_of_place.mean_us


@dataclass(frozen=True)
class BenchReport:
    """What was measured of one schedule.

    Attributes:
        name: what the schedule is called.
        schedule: what was run.
        size: the number of ranks, relays included.
        members: the number of ranks that take part.
        pacing: whether connections kept to the schedule's rates.
        other_library: the name of the library that was compared with; None for none.
        rows: one for each size, element type and reduction.
    """

    name: str
    schedule: Schedule
    size: int
    members: int
    pacing: bool
    other_library: str | None
    rows: tuple[BenchRow, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of bandwidths in all rows."""
        unit = self.schedule.topology.bandwidth_unit
        return unit if has_known_size(unit) else BANDWIDTH_UNIT

    @property
    def bound(self) -> Fraction | None:
        """What no schedule beats, in `unit`; None if no bound is known."""
        if self.schedule.bound is None or not has_known_size(self.schedule.topology.bandwidth_unit):
            return None
        return self.schedule.bound.algbw

    @property
    def wrong(self) -> int:
        """How many elements were wrong in all rows."""
        return sum(timing.wrong or 0 for row in self.rows for timing in row.timings)


@dataclass(frozen=True)
class Listener:
    """Hears of results as soon as they are there, on rank 0.

    Attributes:
        begin: gets the report of a schedule, without rows, before its first row is measured.
        each: gets each row.
    """

    begin: Callable[[BenchReport], None] = lambda _: None
    each: Callable[[BenchRow], None] = lambda _: None


def bench(
    launch: Launch,
    make_schedules: Callable[[], Sequence[tuple[str, Schedule]]],
    request: BenchRequest,
    *,
    listener: Listener | None = None,
) -> tuple[BenchReport, ...]:
    """Measure schedules on the processes that were started together; all of them call this.

    Args:
        launch: this process among the others.
        make_schedules: returns schedules of the same compute nodes with their names; only rank 0 calls it and sends the
            schedules to the others.
        request: what is measured.
        listener: hears of each row; None for nothing.

    Returns:
        One report for each schedule. Ranks other than 0 have times of their own in them.

    Raises:
        InputError: an argument is bad, or there are more or fewer ranks than compute nodes.
        CommunicationError: another process failed.

    Example:
        `bench(join(), lambda: [("ring", generate("ring:nodes=4"))], BenchRequest((2**20,)))`
    """
    launch.wait_for_all()
    shared = _shared(launch, make_schedules)
    plans = [plan_of(schedule) for _, schedule in shared]
    name = launch.share(library_name(launch, request.other_library) or "") or None
    other = library(name, launch, plans[0].members)
    session = _Session(launch, request, pacing_here(), other, listener or Listener(), {})
    reports = tuple(
        session.report(number, *each, plan) for number, (each, plan) in enumerate(zip(shared, plans, strict=True))
    )
    if other is not None:
        other.close()
    return reports


def _shared(launch: Launch, make_schedules: Callable[[], Sequence[tuple[str, Schedule]]]) -> list[tuple[str, Schedule]]:
    """Return the schedules of rank 0; where they are not right, the other ranks end without a message."""
    made: list[tuple[str, Schedule]] = []

    def make() -> None:
        made.extend(make_schedules())
        _check_ranks(launch, [schedule for _, schedule in made])

    launch.only_first(make)
    names = launch.share(json.dumps([name for name, _ in made]))
    return [
        (name, _runnable(launch.share("".join(schedule_text(made[number][1])) if made else "")))
        for number, name in enumerate(json.loads(names))
    ]


def _runnable(text: str) -> Schedule:
    schedule = verified_from_document(json.loads(text), where="the schedule of rank 0")
    check_runnable(schedule)
    return schedule


def _check_ranks(launch: Launch, schedules: Sequence[Schedule]) -> None:
    for schedule in schedules:
        if (size := len(schedule.topology.compute)) != launch.size:
            fix = "start one process for each compute node"
            raise InputError(f"bench: {launch.size} processes, but the network has {size} compute nodes; {fix}")
        if schedule.members != schedules[0].members:
            raise InputError("bench: the schedules have different ranks that take part; measure them one by one")


@dataclass(frozen=True)
class _Session:
    launch: Launch
    request: BenchRequest
    pacing: bool
    other: Library | None
    listener: Listener
    other_times: dict[tuple[object, ...], Timing | None]

    def report(self, number: int, name: str, schedule: Schedule, plan: Plan) -> BenchReport:
        """Measure one schedule."""
        library_name = None if self.other is None else self.other.name
        report = BenchReport(name, schedule, plan.size, len(plan.members), self.pacing, library_name)
        rows = []
        if self.launch.rank == 0:
            self.listener.begin(report)
        with Communicator(
            [schedule],
            rank=self.launch.rank,
            store=self.launch.store,
            name=f"bench{number}",
            timeout=self.launch.timeout,
            interface=self.launch.interface,
            pacing=self.pacing,
            secret=self.launch.secret,
        ) as group:
            for case in _cases(plan, self.request):
                rows.append(self._row(group, case, report))
                if self.launch.rank == 0:
                    self.listener.each(rows[-1])
            self.launch.meet()
        return replace(report, rows=tuple(rows))

    def _row(self, group: Communicator, case: Case, report: BenchReport) -> BenchRow:
        measures_in_place = self.request.in_place and not case.plan.collective.is_personalised
        places = (False, True) if measures_in_place else (False,)
        kinds = [self._timing(group, RankOperation(case, self.launch.rank, in_place=in_place)) for in_place in places]
        key = (case.plan.collective, case.plan.root, case.count, case.element, case.op)
        if key not in self.other_times:
            self.other_times[key] = self._library_timing(case)
        in_place = kinds[1] if measures_in_place else None
        path = f"engine/{report.schedule.kind}"
        return BenchRow(case, kinds[0], in_place, report.bound, report.unit, self.other_times[key], path)

    def _timing(self, group: Communicator, operation: RankOperation) -> Timing:
        call = operation.call(group)
        wrong = None if not self.request.checks else 0
        for _ in range(self.request.checks):
            operation.prepare()
            call()
            wrong = (wrong or 0) + operation.wrong()
        operation.prepare()
        seconds = self._seconds(call, self.request.warmup, self.request.iterations)
        return self._slowest(seconds, wrong)

    def _seconds(self, call: Callable[[], object], warmup: int, runs: int) -> list[float]:
        for _ in range(warmup):
            call()
        self.launch.meet()
        seconds = []
        before = time.perf_counter()
        for _ in range(runs):
            call()
            now = time.perf_counter()
            seconds.append(now - before)
            before = now
        return seconds

    def _slowest(self, seconds: list[float], wrong: int | None) -> Timing:
        """Return on rank 0 the times of the slowest rank, and what was wrong on all ranks."""
        found = self.launch.gather([seconds, wrong]) or [[seconds, wrong]]
        slowest = max((each for each, _ in found), key=sum)
        return Timing(tuple(slowest), None if wrong is None else sum(each for _, each in found))

    def _library_timing(self, case: Case) -> Timing | None:
        call = None if self.other is None else self.other.call(case)
        if call is None:
            return None
        return self._slowest(self._seconds(call, min(1, self.request.warmup), self.request.other_iterations), None)


def _cases(plan: Plan, request: BenchRequest) -> Iterator[Case]:
    for element in request.elements:
        for op in request.ops if plan.collective.reduces else request.ops[:1]:
            if op is ReduceOp.PREMUL_SUM and not element.is_float:
                continue
            for size in request.sizes:
                yield case_of(plan, size, element, op)
