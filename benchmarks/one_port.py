"""Measure the time to solve a series of broadcasts on random one-port platforms, up to a verified schedule.

    python benchmarks/one_port.py
    python benchmarks/one_port.py --quick

prints one line per platform, with the CPU time of each stage. The seeds are fixed, so the platforms are the same on
every run. The last columns are for a loss of 5%.
"""

import argparse
import time
from fractions import Fraction
from random import Random

from forestcoll.oneport import compare_series
from forestcoll.progress import Progress
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.verification import verify

CASES = (
    (20, 80, 1, 10),
    (50, 200, 1, 10),
    (50, 300, 50, 100),
    (100, 600, 1, 10),
    (100, 600, 50, 100),
    (100, 600, 10, 1000),
)
HARDEST = (100, 600, 99, 101)


def platform(nodes: int, links: int, slowest: int, fastest: int, seed: int = 1) -> Topology:
    """Return a random one-port platform with `links` one-way links, most of them between near nodes."""
    draws = Random(seed)  # noqa: S311 (not for security)
    pairs = {(draws.randrange(max(0, node - 8), node), node) for node in range(1, nodes)}
    while len(pairs) < links // 2:
        one, other = sorted(draws.sample(range(nodes), 2))
        if other - one < 15 or draws.random() < 0.2:
            pairs.add((one, other))
    network = TopologyBuilder(f"{nodes} nodes, {links} links, {slowest} to {fastest}", port_model="one-port")
    for node in range(nodes):
        network.add_compute(node)
    for one, other in sorted(pairs):
        network.add_link(one, other, draws.randint(slowest, fastest))
        network.add_link(other, one, draws.randint(slowest, fastest))
    return network.build()


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
        topology = platform(nodes, links, slowest, fastest)
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
