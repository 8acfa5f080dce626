"""Measure the topology finder: one size, all sizes up to 1,024 at degree 4, and schedules of found networks.

    .venv/bin/python benchmarks/finder.py

Goal: all N up to 1,024 at degree 4 in under 60 s, one N in seconds.
"""

import time
from collections.abc import Callable

from forestcoll.design.finder import TopologyFinder, find_topologies
from forestcoll.design.realisation import schedule_of


def main() -> None:
    """Print one line per measurement."""
    for nodes, degree in ((64, 4), (1000, 4), (1024, 4), (1024, 8), (1000, 16)):
        measure(f"find N = {nodes}, d = {degree}", lambda: find_topologies(nodes, degree))  # noqa: B023 (called at once)
    measure("find N = 1024, d = 4, bidirectional", lambda: find_topologies(1024, 4, bidirectional=True))
    measure("find all N to 1024, d = 4", all_sizes)
    for member in find_topologies(1024, 4).members:
        measure(f"schedule and verify an allgather on {member.name}", lambda: schedule_of(member))  # noqa: B023


def all_sizes() -> None:
    """Find the frontier of every size."""
    finder = TopologyFinder()
    for nodes in range(2, 1025):
        finder.find(nodes, 4)


def measure(what: str, work: Callable[[], object]) -> None:
    """Print the time of `work`."""
    begun = time.perf_counter()
    work()
    print(f"{time.perf_counter() - begun:8.2f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
