"""From the fastest program for each size to ranges of sizes, with a schedule and programs each.

Between two sizes with different programs, the range of the first one ends where the programs take equally long: the
place is interpolated, and confirmed by a simulation of both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from forestcoll.base.errors import InputError, InternalError, NoSolutionError, plural
from forestcoll.base.progress import Progress
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.lower_bound.hop_bounds import HopBound
from forestcoll.tuning.lowered import CHUNK_BYTES, Lowerings, Timed, plan_text, xml_text
from forestcoll.tuning.search import Best
from forestcoll.tuning.value import SizeRange

_PLANNED = 2
"""The number of schedules from which the plan of MSCCL++ is chosen."""

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


def ranges_of(found: Found, bound: HopBound, lowerings: Lowerings, progress: Progress) -> tuple[SizeRange, ...]:
    """Return the ranges, in ascending order.

    Raises:
        NoSolutionError: there is no program for a size, or no schedule that the runtime can run.
    """
    spans = list(_spans(found))
    plans = _Plans(lowerings)
    ranges = []
    for done, span in enumerate(spans):
        progress.advance(done, len(spans))
        ranges.append(_range(span, bound, lowerings, plans))
    return tuple(ranges)


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


def _range(span: _Span, bound: HopBound, lowerings: Lowerings, plans: "_Plans") -> SizeRange:
    best = span.ranked[0]
    time = best.timed.microseconds(span.most)
    name = f"{bound.best.topology.name} {bound.best.collective.value} {span.least}-{span.most}"
    program = replace(best.timed.program, name=name)
    texts, times = {"msccl-xml": xml_text(program, lowerings.dialect, span.least, span.most)}, {"msccl-xml": time}
    runnable = [each for each in span.ranked if each.candidate.can_be_run]
    if not runnable:
        raise NoSolutionError(
            f"{bound.best.topology.name}: no schedule of trees has a program for {plural(span.most, 'byte')}"
        )
    plan = plans.best(runnable[:_PLANNED], name, span)
    if plan is not None:
        texts["mscclpp-json"], times["mscclpp-json"] = plan
    return SizeRange(
        least=span.least,
        most=span.most,
        candidate=best.candidate.name,
        variant=best.timed.variant,
        microseconds=time,
        bound_microseconds=bound.microseconds(span.most),
        schedule=_schedule_of(runnable[0]),
        schedule_name=runnable[0].candidate.name,
        chunks=program.chunks,
        programs=texts,
        program_microseconds=times,
    )


def _schedule_of(best: Best) -> Schedule:
    if best.candidate.schedule is None:
        raise InternalError(f"{best.candidate.name} has no schedule")
    return best.candidate.schedule


@dataclass
class _Plans:
    """The programs of schedules for MSCCL++, made once for each candidate."""

    lowerings: Lowerings
    made: dict[str, list[Timed]] = field(default_factory=dict)

    def best(self, ranked: Sequence[Best], name: str, span: _Span) -> tuple[str, float] | None:
        """Return the fastest plan for the greatest size of a span, and its time; None if there is none."""
        timed = [
            (each.microseconds(span.most), place, each)
            for place, each in enumerate(each for best in ranked for each in self._of(best))
            if span.least >= CHUNK_BYTES * each.program.chunks
        ]
        for time, _, each in sorted(timed, key=lambda entry: entry[:2]):
            try:
                return plan_text(replace(each.program, name=name), span.least, span.most), time
            except InputError:  # the plan is only for smaller messages
                continue
        return None

    def _of(self, best: Best) -> list[Timed]:
        key = best.candidate.name
        if key not in self.made:
            self.made[key] = list(self.lowerings.plans_of(_schedule_of(best)))
        return self.made[key]
