"""Measure the topology finder: one size, all sizes at four degrees, and schedules of found networks.

    .venv/bin/python benchmarks/finder.py [--most 2000] [--degrees 2,4,8,16]

Each search begins without results of earlier searches. The times of all sizes are those of the whole command
`forestcoll design --nodes 2..MOST --degree D --json`, with the start of Python and the output. The other times
are of the search alone. All are CPU times. Goal: at most 10 s for all N up to 2,000 at one degree, at most 1 s for one
N. `--most 10000 --degrees 4,8` measures all sizes up to 10,000.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from forestcoll.design.realisation import schedule_of
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.search.finder import find_topologies


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=2000, help="the greatest N of the searches of all sizes")
    parser.add_argument("--degrees", default="2,4,8,16", help="the degrees of the searches of all sizes")
    options = parser.parse_args()
    for nodes, degree in ((64, 4), (1024, 4), (1024, 8), (1999, 16), (10_000, 4), (9973, 16)):
        measure(f"find N = {nodes}, d = {degree}", lambda: find_topologies(nodes, degree))  # noqa: B023 (called at once)
    for degree in map(int, options.degrees.split(",")):
        print(f"{command_time(options.most, degree):8.2f} s  all N to {options.most}, d = {degree}", flush=True)
    for member in find_topologies(1024, 4).members:
        measure(f"schedule and verify an allgather on {member.name}", lambda: schedule_of(member))  # noqa: B023


def command_time(most: int, degree: int) -> float:
    """Return the CPU time of the command that finds the networks of every size. A sweep does not use the cache."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "forestcoll", "design", "--nodes", f"2..{most}", "--degree", str(degree)]
    subprocess.run([*command, "--json"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(what: str, work: Callable[[], object]) -> None:
    """Print the CPU time of `work`, which begins without known bases."""
    bases.cache_clear()
    kautz.cache_clear()
    begun = time.process_time()
    work()
    print(f"{time.process_time() - begun:8.2f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
