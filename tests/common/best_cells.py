"""The best schedule for a size, next to the fastest algorithm of `compare`: for the test and for the benchmark."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.by_size import BySize
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.simulation.simulate import simulate
from forestcoll.verification import certified, verify

LOSS = 1.005
"""The greatest ratio of the time of the best schedule to that of an algorithm."""


@dataclass(frozen=True)
class Cell:
    """One network, collective and size.

    Attributes:
        place: what it is about.
        method: the best schedule.
        share: the lower bound as a part of its time.
        ratio: its time over that of the fastest algorithm; 0 if none applies.
        rival: the fastest algorithm.
    """

    place: str
    method: str
    share: float
    ratio: float
    rival: str


def cells_of(spec: str, collective: str, sizes: Sequence[int], left_out: Sequence[str] = ()) -> Iterator[Cell]:
    """Yield what is best for each size, next to the fastest algorithm; schedules are verified."""
    problem = problem_of(spec, collective)
    by_size, times = BySize(problem), dict(_times(problem, sizes, left_out))
    for place, size in enumerate(sizes):
        best = by_size.at(size)
        certified(verify(best.schedule))
        rival = min(times, key=lambda name: times[name][place], default="")
        ratio = best.point.seconds / times[rival][place] if rival else 0.0
        yield Cell(f"{spec} {collective} {size}", best.method, best.share, ratio, rival)


def _times(problem: Problem, sizes: Sequence[int], left_out: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    for baseline in baselines():
        if baseline.name in left_out:
            continue
        try:
            made = baseline.result(problem)
        except DoesNotApplyError:
            continue
        factor = float((certified(verify(made.schedule)).algbw or 1) / made.algbw) if made.algbw else 1.0
        points = simulate(made.schedule, [round(size * factor) for size in sizes])
        yield baseline.name, [point.seconds for point in points]


def seconds_for_one_size(spec: str, collective: str, size: int) -> float:
    """Return the CPU time to find, verify, write and simulate the schedule for a size, without the start of Python."""
    begin = time.process_time()
    best = BySize(problem_of(spec, collective)).at(size)
    certified(verify(best.schedule))
    with tempfile.TemporaryDirectory() as folder:
        write_schedule(best.schedule, Path(folder) / "best.json")
        written = read_schedule(Path(folder) / "best.json")
    assert abs(simulate(written, [size])[0].seconds / best.point.seconds - 1) < 1e-9
    return time.process_time() - begin
