"""Measure the time to lower and to check programs of 128 GPUs, and to simulate 1,024 GPUs.

Run it on an idle machine: `.venv/bin/python benchmarks/programs.py`.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from forestcoll.algorithms.generate import generate
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import Options, Placement, Style, lower
from forestcoll.simulation.simulate import simulate
from forestcoll.topology.registry import build_topology

CASES = (("dgx-a100:boxes=16", "allgather"), ("dgx-a100:boxes=16", "allreduce"), ("mi250:boxes=8", "allreduce"))
LARGE = ("dgx-a100:boxes=128", "torus:dims=16x8x8")

_Result = TypeVar("_Result")


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """Return the result of `work` and its time in seconds."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def main() -> None:
    """Print one line per case."""
    print("| network | collective | style | instructions | lowering | checking |")
    print("| --- | --- | --- | --- | --- | --- |")
    for spec, collective in CASES:
        schedule = generate(build_topology(spec), demand=collective)
        for style in Style:
            options = Options(style=style, placement=Placement.OUT_OF_PLACE)
            lowering, lowered = timed(lambda: lower(schedule, options))  # noqa: B023 (called at once)
            verdict, checked = timed(lambda: check(lowering.program))  # noqa: B023 (called at once)
            if not verdict.ok:
                raise SystemExit(f"{spec}: {verdict.fault}")
            print(f"| {spec} | {collective} | {style} | {verdict.instructions:,} | {lowered:.1f} s | {checked:.1f} s |")
    for spec in LARGE:
        schedule = generate(build_topology(spec))
        points, passed = timed(lambda: simulate(schedule, [10**9, 16 * 10**9]))  # noqa: B023 (called at once)
        share = points[-1].algbw / float(schedule.algbw)
        print(f"{spec}: simulated in {passed:.1f} s; 16 GB at {share:.1%} of the schedule's algbw")


if __name__ == "__main__":
    main()
