"""Measure the topology finder: one size, all sizes at four degrees, and schedules of found networks.

    .venv/bin/python benchmarks/finder.py [--most 2000]

Each measurement is the CPU time of a search that begins without results of earlier searches. The program prints the
times of the finder before the costs of generalized Kautz graphs were counted over intervals of links next to the times
of all sizes. Goal: at most 10 s for all N up to 2,000 at one degree, at most 1 s for one N.
"""

import argparse
import time
from collections.abc import Callable

from forestcoll.design.catalogue import bases, kautz
from forestcoll.design.finder import TopologyFinder, find_topologies
from forestcoll.design.realisation import schedule_of

BEFORE = {2: "51 s", 4: "34 s", 8: "244 s", 16: "more than 400 s"}
"""The times of the earlier search for all N up to 2,000, by degree, on two cores."""


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=2000, help="the greatest N of the searches of all sizes")
    most = parser.parse_args().most
    for nodes, degree in ((64, 4), (1024, 4), (1024, 8), (1999, 16), (10_000, 4), (9973, 16)):
        measure(f"find N = {nodes}, d = {degree}", lambda: find_topologies(nodes, degree))  # noqa: B023 (called at once)
    for degree, before in BEFORE.items():
        note = f" (before: {before})" if most == 2000 else ""
        measure(f"find all N to {most}, d = {degree}{note}", lambda: all_sizes(most, degree))  # noqa: B023
    for member in find_topologies(1024, 4).members:
        measure(f"schedule and verify an allgather on {member.name}", lambda: schedule_of(member))  # noqa: B023


def all_sizes(most: int, degree: int) -> None:
    """Find the frontier of every size."""
    finder = TopologyFinder()
    for nodes in range(2, most + 1):
        finder.find(nodes, degree)


def measure(what: str, work: Callable[[], object]) -> None:
    """Print the CPU time of `work`, which begins without known bases."""
    bases.cache_clear()
    kautz.cache_clear()
    begun = time.process_time()
    work()
    print(f"{time.process_time() - begun:8.2f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
