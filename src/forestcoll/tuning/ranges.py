"""From the fastest program for each size to ranges of sizes, with a schedule and programs each.

Between two sizes with different programs, the range of the first one ends where the programs take equally long: the
place is interpolated, and confirmed by a simulation of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.programs.model import Protocol
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.lower_bound.hop_bounds import HopBound
from forestcoll.tuning.candidates import Candidate
from forestcoll.tuning.lowered import Lowerings, Timed, is_for, plan_text, xml_text
from forestcoll.tuning.search import Best
from forestcoll.tuning.value import SizeRange, Texts

PIECES_OF_PLANS = (1, 2, 4)
"""The numbers of pieces of plans of MSCCL++, which cuts chunks further by itself."""

Found = Sequence[tuple[int, Sequence[Best]]]
"""For each size, the fastest program of each candidate, the fastest first."""


@dataclass(frozen=True)
class _Span:
    """Sizes with one best program.

    Attributes:
        least: the least size.
        most: the greatest size.
        ranked: the fastest programs at the greatest of the simulated sizes, the fastest first.
    """

    least: int
    most: int
    ranked: Sequence[Best]

    @property
    def timed(self) -> Timed:
        """The best program."""
        return self.ranked[0].timed


def ranges_of(
    found: Found, candidates: Sequence[Candidate], bound: HopBound, lowerings: Lowerings, progress: Progress
) -> tuple[SizeRange, ...]:
    """Return the ranges, in ascending order.

    Raises:
        NoSolutionError: there is no program for a size, or no schedule that the runtime can run.
    """
    runnable = {each.name: each.schedule for each in candidates if each.schedule is not None and each.can_be_run}
    if not runnable:
        raise NoSolutionError(f"{bound.best.topology.name}: no schedule of trees has a program")
    spans = list(_spans(found))
    plans = _Plans(lowerings)
    ranges = []
    for done, span in enumerate(spans):
        progress.advance(done, len(spans))
        ranges.append(_range(span, _ranked(span, runnable, lowerings), bound, lowerings, plans))
    return tuple(ranges)


def _ranked(span: _Span, runnable: Mapping[str, Schedule], lowerings: Lowerings) -> list[tuple[str, Schedule]]:
    """Return the schedules that the runtime can run, the fastest first: that of the best program, if it runs it.

    Others are compared by their closed form.
    """
    size = span.most
    times = {name: lowerings.closed_form(schedule, [size])[size] for name, schedule in runnable.items()}
    best = span.ranked[0].candidate.name
    return sorted(runnable.items(), key=lambda each: (each[0] != best, times[each[0]]))


def _spans(found: Found) -> Iterator[_Span]:
    least, (size, ranked) = found[0][0], found[0]
    for following, other in found[1:]:
        if _key(other[0]) != _key(ranked[0]):
            most = _crossover(size, following, ranked[0].timed, other[0].timed)
            yield _Span(least, most, ranked)
            least = most + 1
        size, ranked = following, other
    yield _Span(least, size, ranked)


def _key(best: Best) -> tuple[str, str]:
    return best.candidate.name, best.timed.variant


def _crossover(low: int, high: int, first: Timed, second: Timed) -> int:
    """Return the greatest size known, from `low` to below `high`, for which `first` is not slower than `second`.

    Args:
        low: a size for which `first` is not slower.
        high: a size for which `second` is faster.
        first: a program.
        second: a program.
    """
    before = max(0.0, second.microseconds(low) - first.microseconds(low))
    after = max(0.0, first.microseconds(high) - second.microseconds(high))
    length = (high - low) * before / (before + after) if before + after else 0.0
    for part in (1.0, 0.5):
        step = max(1, low // 16)
        size = min(high - 1, low + int(length * part) // step * step)
        if size > low and first.microseconds(size) <= second.microseconds(size):
            return size
    return low


def _range(
    span: _Span,
    runnable: Sequence[tuple[str, Schedule]],
    bound: HopBound,
    lowerings: Lowerings,
    plans: "_Plans",
) -> SizeRange:
    best = span.ranked[0]
    time = best.timed.microseconds(span.most)
    name = f"{bound.best.topology.name} {bound.best.collective.value} {span.least}-{span.most}"
    program = replace(best.timed.program, name=name)
    texts = {"msccl-xml": partial(xml_text, program, lowerings.dialect, span.least, span.most)}
    times = {"msccl-xml": time}
    plan = plans.best(runnable, span)
    if plan is not None:
        planned = replace(plan.program, name=name)
        texts["mscclpp-json"] = partial(plan_text, planned, span.least, span.most)
        times["mscclpp-json"] = plan.microseconds(span.most)
    schedule_name, schedule = runnable[0]
    return SizeRange(
        least=span.least,
        most=span.most,
        candidate=best.candidate.name,
        variant=best.timed.variant,
        microseconds=time,
        bound_microseconds=bound.microseconds(span.most),
        schedule=schedule,
        schedule_name=schedule_name,
        chunks=program.chunks,
        programs=Texts(texts),
        program_microseconds=times,
    )


@dataclass
class _Plans:
    """The programs of schedules for MSCCL++, made once for each candidate, protocol and number of pieces."""

    lowerings: Lowerings
    made: dict[tuple[str, Protocol, int], Timed | None] = field(default_factory=dict)

    def best(self, ranked: Sequence[tuple[str, Schedule]], span: _Span) -> Timed | None:
        """Return the fastest plan, for the greatest size, of the first schedule; None if it has none."""
        timed = [
            each for protocol in self.lowerings.protocols_of_plans for each in self._of(*ranked[0], protocol, span)
        ]
        return min(timed, key=lambda each: each.microseconds(span.most), default=None)

    def _of(self, name: str, schedule: Schedule, protocol: Protocol, span: _Span) -> Iterator[Timed]:
        """Yield the plans in more and more pieces, as long as further ones may be faster.

        They take at least the latency of one piece, and leave the part of the time in which no link is busy that one
        piece has of so many.
        """
        least, most = 0.0, inf
        for pieces in PIECES_OF_PLANS if protocol is not Protocol.LL else PIECES_OF_PLANS[:1]:
            key = name, protocol, pieces
            if key not in self.made:
                self.made[key] = self.lowerings.plan_of(schedule, protocol, pieces)
            timed = self.made[key]
            if timed is None or not timed.fits(span.least) or not is_for(timed.program, span.least):
                return
            yield timed
            time, busy = timed.run(span.most)
            waiting = (time - busy) * pieces / PIECES_OF_PLANS[-1]
            least = max(least, timed.latency if pieces == 1 else 0.0, busy + waiting)
            most = min(most, time)
            if least >= most:
                return
