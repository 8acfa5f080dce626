"""The best schedule for a size: of all methods that may be the best for some size, that with the least simulated time.

The candidates are in the registry of methods: `by_size=` of a declaration names texts of a method, such as `two-level`
or `shallow:more=1,trees=1`. So `--method` makes each of them. A candidate that does not apply to the problem is left
out. Of equally fast candidates, the first one is the best: `FIRST`, then all others by name. The search for a size ends
at a schedule that nearly reaches the lower bound of the time (`simulation/lower_bound/schedules.py`).

In place of a text, there may be several series of texts, whose schedules make more and more sends. A series is tried
until a schedule is not faster than those before. The next series begins at the number of sends that was the best.

The times are those of `simulate`. So the best schedule for a size is the same for `generate`, `simulate`, `compare`,
the runtime and the torch backend.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, isqrt
from statistics import mean
from typing import TypeAlias

from forestcoll.algorithms.best_schedule import BestOverSizes, BestSchedule, OptimumFrom, SizeRange
from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.errors import InputError, InternalError, NoSolutionError
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.lower_bound.schedules import schedule_bound
from forestcoll.simulation.simulate import TimeModel, times_of

FIRST = ("trees", "flows", "direct", "trees:shorter=true", "two-level", "two-level-barrier", "bfb")
"""The candidates that are tried first; the only ones if there are more than `MOST_NODES` compute nodes."""

RIVALS = (*(each for each in FIRST if each != "flows"), "shallow:trees=1", "shallow:more=1,trees=1")
"""The candidates that may be faster than the optimum along trees also for large data."""

RIVALS_OF_FLOWS = ("flows", "direct", "two-level", "steps")
"""The same for the optimum along flows."""

MOST_NODES = 64
"""The most compute nodes for which all candidates are tried."""

MOST_WITH_FIRST = 512
"""The most compute nodes for which candidates are tried; with more, the optimum is taken."""

NEAR = 1.001
"""A schedule is the best if its time is at most this multiple of the lower bound."""

NEARLY = 1.005
"""A schedule that takes at most this multiple of the best time counts as the best, too."""

_SAME = 1 - 1e-9
"""Times whose ratio is nearer to 1 are equal."""

_POWERS = range(10, 45)
"""The powers of two that are tried as the size from which the optimum for large data is the best."""

_DIGITS = 5
"""The binary digits of a size where another schedule becomes the best."""


@dataclass(frozen=True)
class _Candidate:
    """A method, and its schedule when it is needed."""

    method: Method
    problem: Problem
    costs: Costs
    accept: Callable[[Schedule], bool] | None

    @cached_property
    def is_accepted(self) -> bool:
        """Whether the schedule is one of those that may be chosen."""
        return self.schedule is not None and (self.accept is None or self.accept(self.schedule))

    @cached_property
    def text(self) -> str:
        return str(self.method)

    @cached_property
    def schedule(self) -> Schedule | None:
        """The schedule; None if the method does not apply to the problem."""
        try:
            return self.method.schedule(self.problem)
        except (InputError, NoSolutionError):
            return None

    @cached_property
    def times(self) -> TimeModel | None:
        """The times of the schedule."""
        return None if self.schedule is None else times_of(self.schedule)(self.costs)


_Several: TypeAlias = tuple[tuple[_Candidate, ...], ...]
"""Series of candidates."""


class BySize:
    """The best schedules of a problem by size. Schedules are made when a size needs them, and kept.

    Args:
        problem: the problem; its size is not used.
        costs: the costs of a send; the defaults of `Costs` if None.
        accept: says whether a schedule may be chosen; all may if None.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
        NoSolutionError: as `optimum`.
    """

    def __init__(
        self, problem: Problem, costs: Costs | None = None, accept: Callable[[Schedule], bool] | None = None
    ) -> None:
        self._problem, self._costs, self._accept = problem.silent(), costs or Costs(), accept
        self._bound = schedule_bound(problem.optimum, self._costs)
        self._made: dict[str, _Candidate] = {}
        self._known: dict[int, BestSchedule] = {}

    @cached_property
    def _candidates(self) -> tuple[_Several, ...]:
        return tuple(
            tuple(tuple(map(self._candidate, series)) for series in several) for several in candidates(self._problem)
        )

    def _candidate(self, method: Method) -> _Candidate:
        made = _Candidate(method, self._problem, self._costs, self._accept)
        return self._made.setdefault(made.text, made)

    def at(self, size: int) -> BestSchedule:
        """Return the best schedule for M of `size` bytes."""
        return self._known.get(size) or self._known.setdefault(size, self._found(size))

    def _found(self, size: int) -> BestSchedule:
        best, bound = None, self._bound(size)
        for several in self._candidates:
            if best is not None and best.point.seconds * 1e6 <= bound * NEAR:
                break
            for candidate, schedule, point in _fastest(several, size):
                is_faster = best is None or point.seconds < best.point.seconds * _SAME
                if is_faster and candidate.is_accepted:
                    best = BestSchedule(candidate.text, schedule, point, bound)
        if best is None:
            raise NoSolutionError(f"{self._problem.topology.name}: there is no schedule")
        return best

    def ranges(self, sizes: Sequence[int]) -> tuple[SizeRange, ...]:
        """Return the ranges of sizes with one best schedule, from the least to the greatest of `sizes`."""
        ordered = sorted(set(sizes))
        starts = [ordered[0], *self._changes(ordered)]
        ends = [*(start - 1 for start in starts[1:]), ordered[-1]]
        methods = (self.at(start).method for start in starts)
        return tuple(
            SizeRange(start, end, self._as(method, end))
            for start, end, method in zip(starts, ends, methods, strict=True)
        )

    def _changes(self, ordered: Sequence[int]) -> Iterator[int]:
        """Yield the sizes from which another schedule is the best, to `_DIGITS` binary digits."""
        for low, high in pairwise(ordered):
            yield from self._between(low, high)

    def _between(self, low: int, high: int) -> Iterator[int]:
        if self.at(low).method == self.at(high).method:
            return
        middle = isqrt(low * high) if high > 4 * low else (low + high) // 2
        unit = 2 ** max(0, middle.bit_length() - _DIGITS)
        middle = -(-middle // unit) * unit
        if not low < middle < high:
            yield high
            return
        yield from self._between(low, middle)
        yield from self._between(middle, high)

    def over(self, sizes: Sequence[int]) -> BestOverSizes:
        """Return the schedule that is best for several sizes: its mean loss against the best ones is least."""
        ranges = self.ranges(sizes)
        losses = {each.best.method: self._loss(each.best.method, sizes) for each in ranges}
        method = min(losses, key=lambda name: losses[name])
        best = self._as(method, max(sizes))
        overtaken = self._overtaken(method, min(sizes))
        return BestOverSizes(best, losses[method], ranges, overtaken, self._problem.optimum)

    def _loss(self, method: str, sizes: Sequence[int]) -> float:
        """Return by which part the time of a schedule exceeds the best one, on average."""
        return mean(self._as(method, each).point.seconds / self.at(each).point.seconds for each in sizes) - 1

    def _as(self, method: str, size: int) -> BestSchedule:
        """Return a schedule that is the best for another size."""
        chosen = self._made[method]
        if chosen.times is None or chosen.schedule is None:
            raise InternalError(f"{method} does not apply")
        return BestSchedule(method, chosen.schedule, chosen.times.point(size), self._bound(size))

    def _overtaken(self, method: str, least: int) -> int | None:
        """Return the power of two above `least` from which the optimum for large data is faster; None if it is not."""
        for power in _POWERS:
            size = 1 << power
            if size > least and self._own.point(size).seconds < self._as(method, size).point.seconds * _SAME:
                return size
        return None

    def optimum_from(self) -> OptimumFrom:
        """Return the power of two from which on the optimum for large data is the best, or nearly.

        Only `RIVALS` are tried: the others are fast for small data.
        """
        own, least = self._own, None
        for size in (2**power for power in reversed(_POWERS)):
            limit = own.point(size).seconds / NEARLY
            if limit * 1e6 > self._bound(size):
                faster = next((each for each in self._rivals if self._seconds(each, size) < limit), None)
                if faster is not None:
                    return OptimumFrom(least, self._as(faster.text, size), own.point(size))
            least = size
        return OptimumFrom(least, None, own.point(2 ** _POWERS[0]))

    @property
    def _own(self) -> TimeModel:
        """The times of the optimum for large data."""
        own = self._rivals[0].times
        if own is None:
            raise InternalError(f"{self._rivals[0].text} does not apply")
        return own

    @cached_property
    def _rivals(self) -> list[_Candidate]:
        texts = RIVALS_OF_FLOWS if self._problem.collective.is_personalised else RIVALS
        return [self._candidate(each) for each in map(methods.read, texts) if _takes(each, self._problem.demand)]

    @staticmethod
    def _seconds(candidate: _Candidate, size: int) -> float:
        return inf if candidate.times is None else candidate.times.point(size).seconds


def _fastest(several: _Several, size: int) -> Iterator[tuple[_Candidate, Schedule, Point]]:
    """Yield candidates with schedules for a size, each faster than all before it."""
    start, seconds = 0, inf
    for series in several:
        for place in range(start, len(series)):
            candidate = series[place]
            if candidate.times is None or candidate.schedule is None:
                break
            point = candidate.times.point(size)
            if point.seconds >= seconds * _SAME:
                break
            start, seconds = place, point.seconds
            yield candidate, candidate.schedule, point


def candidates(problem: Problem) -> tuple[tuple[tuple[Method, ...], ...], ...]:
    """Return the methods that may make the best schedule of a problem for some size, in their order, as series.

    Example:
        >>> from forestcoll.algorithms.generate import problem_of
        >>> found = candidates(problem_of("ring:nodes=4", "all-to-all"))
        >>> [str(series[0]) for several in found for series in several]
        ['flows', 'direct', 'two-level', 'bruck', 'steps']
    """
    kind = problem.collective
    specs = [spec for spec in methods.all() if kind in spec.facts.get("by_size_for", (kind,))]
    listed = [each for spec in specs for each in spec.facts.get("by_size", ())]
    first = [each for each in FIRST if each in listed]
    rest = [each for each in listed if each not in FIRST] if len(problem.members) <= MOST_NODES else []
    if len(problem.members) > MOST_WITH_FIRST:
        first = first[:2]
    series = (((each,),) if isinstance(each, str) else each for each in (*first, *rest))
    read = (tuple(tuple(map(methods.read, one)) for one in several) for several in series)
    return tuple(each for each in read if _takes(each[0][0], problem.demand))


def _takes(method: Method, demand: NodeDemand) -> bool:
    has = {"ranks": demand.ranks, "shards": demand.shards, "matrix": demand.matrix}
    parts = {name for name, value in has.items() if value is not None}
    return demand.collective in method.collectives and parts <= method.takes
