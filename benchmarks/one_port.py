"""Measure the time to solve a series of broadcasts on random one-port platforms, up to a verified schedule.

    python benchmarks/one_port.py
    python benchmarks/one_port.py --quick

prints one line per platform, with the CPU time of each stage. The seeds are fixed, so the platforms are the same on
every run. The last columns are for a loss of 5%.
"""

import argparse
import sys
import time
from fractions import Fraction
from pathlib import Path

from forestcoll.base.progress import Progress
from forestcoll.oneport import compare_series
from forestcoll.verification import verify

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from oneport_platforms import HARDEST, one_port_platform

CASES = (
    (20, 80, 1, 10),
    (50, 200, 1, 10),
    (50, 300, 50, 100),
    (100, 600, 1, 10),
    (100, 600, 50, 100),
    (100, 600, 10, 1000),
)


class Stages(Progress):
    """Measure the CPU time of every stage."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._begun: float | None = None

    def begin(self, stage: str) -> None:  # noqa: ARG002
        """As `Progress.begin`."""
        now = time.process_time()
        if self._begun is not None:
            self.seconds.append(now - self._begun)
        self._begun = now


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the smaller platforms")
    cases = CASES[:2] if parser.parse_args().quick else (*CASES, HARDEST)
    print(
        "| nodes | links | bandwidths | optimum | best DAG and tree | schedule, verified | rounds | rounds, 5% loss |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for nodes, links, slowest, fastest in cases:
        topology = one_port_platform(nodes, links, slowest, fastest)
        watch = Stages()
        compared = compare_series(topology, 0, progress=watch)
        watch.begin("schedule")
        exact = compared.schedule()
        if not verify(exact).optimal:
            raise SystemExit(f"{topology.name}: the schedule is wrong")
        watch.begin("end")
        short = compared.schedule(loss=Fraction(1, 20))
        solving, tree, dag, schedule = watch.seconds
        print(
            f"| {nodes} | {links} | {slowest} to {fastest} | {solving:.1f} s, {len(compared.best.trees)} tree(s) "
            f"| {tree + dag:.1f} s | {schedule:.1f} s | {len(exact.rounds):,} | {len(short.rounds):,} |"
        )


if __name__ == "__main__":
    main()
