"""Measures one schedule size by size, out of place and in place, and compares it with the bound and a library.

A time is that of the slowest rank for a number of runs, one after the other, divided by their number, as in nccl-tests.
Data is checked in runs of their own, before those that are timed.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.bench.launch import Launch
from forestcoll.bench.libraries import Library, library, library_name
from forestcoll.bench.operations import Case, Operation, case_of
from forestcoll.bench.request import BenchRequest, busbw_factor
from forestcoll.collective import Collective
from forestcoll.environment import pacing_here
from forestcoll.errors import ForestcollError, InputError
from forestcoll.runtime.communicator import Communicator
from forestcoll.runtime.plan import Plan, Runnable, plan_of
from forestcoll.schedule.files import schedule_from_document, schedule_text
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.units import bytes_per_microsecond, has_known_size

_MOST_LIBRARY_RUNS = 5


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
class Row:
    """One size, element type and reduction.

    Attributes:
        case: what all ranks did.
        out_of_place: the runs out of place.
        in_place: the runs in place.
        bound: what no schedule beats, in `unit`; None if no bound is known.
        unit: the unit of bandwidths.
        library_us: the time of the library's own collective in microseconds; None if there is none.
        path: what carried the data.
    """

    case: Case
    out_of_place: Timing
    in_place: Timing
    bound: Fraction | None
    unit: str
    library_us: float | None
    path: str

    def algbw(self, timing: Timing) -> float:
        """Return the size divided by the mean time, in `unit`."""
        per_microsecond = float(bytes_per_microsecond(self.unit)) if has_known_size(self.unit) else 1000.0
        return self.case.size / timing.mean_us / per_microsecond

    def busbw(self, timing: Timing) -> float:
        """Return the bus bandwidth, as nccl-tests defines it, in `unit`."""
        return self.algbw(timing) * busbw_factor(self.case.plan.collective, self.case.members)

    @property
    def share(self) -> float | None:
        """Which part of the bound was reached, out of place; None if there is no bound or the unit has no size."""
        if self.bound is None or not has_known_size(self.unit):
            return None
        return self.algbw(self.out_of_place) / float(self.bound)

    @property
    def speedup(self) -> float | None:
        """How many times the library's own collective takes; None if there is none."""
        return None if self.library_us is None else self.library_us / self.out_of_place.mean_us


@dataclass(frozen=True)
class BenchReport:
    """What was measured.

    Attributes:
        schedule: what was run.
        size: the number of ranks, relays included.
        members: the number of ranks that take part.
        pacing: whether connections kept to the schedule's rates.
        library: the name of the library that was compared with; None for none.
        rows: one for each size, element type and reduction.
    """

    schedule: Runnable
    size: int
    members: int
    pacing: bool
    library: str | None
    rows: tuple[Row, ...] = ()

    @property
    def wrong(self) -> int:
        """How many elements were wrong in all rows."""
        return sum(timing.wrong or 0 for row in self.rows for timing in (row.out_of_place, row.in_place))


def bench(  # noqa: PLR0913 (what is measured, and who hears of it)
    launch: Launch,
    make_schedule: Callable[[], Runnable],
    request: BenchRequest,
    *,
    pacing: bool | None = None,
    begin: Callable[[BenchReport], None] = lambda _: None,
    each: Callable[[Row], None] = lambda _: None,
) -> BenchReport:
    """Measure a schedule on the processes that were started together; all of them call this.

    Args:
        launch: this process among the others.
        make_schedule: returns the schedule; only rank 0 calls it and sends the schedule to the others.
        request: what is measured.
        pacing: whether the bandwidths of the topology are those of the real network; None for `FORESTCOLL_PACING`.
        begin: gets the report without rows before the first one is measured, on rank 0.
        each: gets each row as soon as it was measured, on rank 0.

    Returns:
        The report; ranks other than 0 have times of their own in it.

    Raises:
        InputError: an argument is bad, or there are more or fewer ranks than compute nodes.
        CommunicationError: another process failed.
    """
    schedule = _shared(launch, make_schedule)
    plan = plan_of(schedule)
    if plan.size != launch.size:
        text = f"{schedule.topology.name} has {plan.size} compute nodes"
        raise InputError(f"bench: {launch.size} processes, but {text}; start one process for each compute node")
    is_paced = pacing_here() if pacing is None else pacing
    with Communicator(
        [schedule],
        rank=launch.rank,
        store=launch.store,
        name="bench",
        timeout=launch.timeout,
        interface=launch.interface,
        pacing=is_paced,
    ) as group:
        name = launch.share(library_name(launch, request.library) or "") or None
        other = library(name, launch, plan.members)
        report = BenchReport(schedule, plan.size, len(plan.members), is_paced, None if other is None else other.name)
        if launch.rank == 0:
            begin(report)
        rows = []
        for case in _cases(plan, request):
            rows.append(_Measurement(launch, group, other, request).row(case, schedule))
            if launch.rank == 0:
                each(rows[-1])
        launch.meet()
        if other is not None:
            other.close()
    return BenchReport(schedule, report.size, report.members, report.pacing, report.library, tuple(rows))


def _shared(launch: Launch, make_schedule: Callable[[], Runnable]) -> Runnable:
    """Return the schedule of rank 0; where it could not be made, the other ranks end without a message."""
    text = ""
    try:
        if launch.rank == 0:
            text = "".join(schedule_text(make_schedule()))
    except ForestcollError:
        launch.share("")
        raise
    text = launch.share(text)
    if not text:
        raise SystemExit(1)
    schedule = schedule_from_document(json.loads(text), where="the schedule of rank 0")
    if not isinstance(schedule, TreeSchedule | StepSchedule):
        raise InputError(f"bench: a schedule of kind {schedule.kind!r} cannot be run; use trees or steps")
    return schedule


def _cases(plan: Plan, request: BenchRequest) -> Iterator[Case]:
    reduces = plan.collective not in {Collective.ALLGATHER, Collective.BROADCAST}
    for element in request.elements:
        for op in request.ops if reduces else request.ops[:1]:
            if op.value == "premul-sum" and not element.is_float:
                continue
            for size in request.sizes:
                yield case_of(plan, size, element, op)


@dataclass(frozen=True)
class _Measurement:
    launch: Launch
    group: Communicator
    other: Library | None
    request: BenchRequest

    def row(self, case: Case, schedule: Runnable) -> Row:
        kinds = [self._timing(Operation(case, self.launch.rank, in_place=in_place)) for in_place in (False, True)]
        bound = None if schedule.bound is None else schedule.bound.algbw
        unit = schedule.topology.bandwidth_unit
        return Row(case, kinds[0], kinds[1], bound, unit, self._library_us(case), f"engine/{schedule.kind}")

    def _timing(self, operation: Operation) -> Timing:
        call = operation.call(self.group)
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

    def _library_us(self, case: Case) -> float | None:
        call = None if self.other is None else self.other.call(case)
        if call is None:
            return None
        runs = min(self.request.iterations, _MOST_LIBRARY_RUNS)
        return self._slowest(self._seconds(call, min(1, self.request.warmup), runs), None).mean_us
