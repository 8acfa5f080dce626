"""Compare the fast method with the proven method on one network. The soak test and a test of the suite use this."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.forest import grown_schedule
from forestcoll.solver.generation.growing import TreeSearch
from forestcoll.topology import Topology
from forestcoll.verification import verify


class DisagreementError(Exception):
    """A method failed, or two methods disagree. The message says which methods and how."""


class OverTheLimitError(Exception):
    """The work took longer than the time limit."""


class Limit(Progress):
    """Stop the work after a number of seconds, and store its counters."""

    def __init__(self, seconds: float) -> None:
        self.counters: dict[str, int] = {}
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def advance(self, done: int, total: int) -> None:  # noqa: ARG002 (only the clock counts)
        """As `Progress.advance`."""
        if time.monotonic() > self._end:
            raise OverTheLimitError(f"took longer than {self._seconds:.0f} s")

    def note(self, counters: Mapping[str, int]) -> None:
        """As `Progress.note`."""
        self.counters |= counters


@dataclass(frozen=True)
class Comparison:
    """The results of the methods on a network. `proven_seconds` is None if the proven method exceeded the limit."""

    trees_per_root: int
    fell_back: bool
    auto_seconds: float
    proven_seconds: float | None


def compare(topology: Topology, *, limit: float = 60.0) -> Comparison:
    """Make schedules of `topology` with every method, verify each, and compare them with each other.

    Raises:
        DisagreementError: a schedule is wrong or does not reach the optimum, the methods disagree, or the method auto
            exceeds the limit. A slow proven method is not an error.
    """
    best = optimum(topology)
    watch = Limit(limit)
    began = time.perf_counter()
    try:
        auto = grown_schedule(best, progress=watch)
    except OverTheLimitError as error:
        raise DisagreementError(f"auto {error}") from None
    auto_seconds = time.perf_counter() - began
    _judge(best, auto, TreeSearch.AUTO)
    fell_back = watch.counters.get("proven", 0) > 0
    _check_fast(best, fell_back=fell_back)
    return Comparison(best.trees_per_root, fell_back, auto_seconds, _proven_seconds(best, auto, limit))


def _check_fast(best: TreeOptimum, *, fell_back: bool) -> None:
    try:
        fast = grown_schedule(best, search=TreeSearch.FAST)
    except NoSolutionError:
        if not fell_back:
            raise DisagreementError("fast does not complete all trees, but auto did not need proven") from None
        return
    if fell_back:
        raise DisagreementError("auto used proven, but fast completes all trees")
    _judge(best, fast, TreeSearch.FAST)


def _proven_seconds(best: TreeOptimum, auto: TreeSchedule, limit: float) -> float | None:
    began = time.perf_counter()
    try:
        proven = grown_schedule(best, search=TreeSearch.PROVEN, progress=Limit(limit))
    except OverTheLimitError:
        return None
    seconds = time.perf_counter() - began
    _judge(best, proven, TreeSearch.PROVEN)
    if (auto.algbw, auto.trees_per_root) != (proven.algbw, proven.trees_per_root):
        raise DisagreementError(f"auto reaches {auto.algbw}, proven {proven.algbw}")
    return seconds


def _judge(best: TreeOptimum, schedule: TreeSchedule, method: TreeSearch) -> None:
    report = verify(schedule)
    if report.fault is not None:
        raise DisagreementError(f"{method.value}: {report.fault.message}")
    if not report.optimal or report.algbw != best.algbw:
        raise DisagreementError(f"{method.value} reaches {report.algbw}, not the optimum {best.algbw}")
