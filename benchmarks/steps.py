"""Measure time and memory of breadth-first broadcasts, of their verification and of their files, by network.

    python benchmarks/steps.py [--quick]

The networks are those of Table 6 of "Efficient Direct-Connect Topologies", and some with unequal links or nodes. Each
network runs in its own process. Times are wall-clock times on an idle machine.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from forestcoll import generate, load_topology, read_schedule, verify, write_schedule

NETWORKS = (
    "hypercube:dim=3",
    "hypercube:dim=6",
    "torus:dims=6x6",
    "complete:nodes=256",
    "complete-bipartite:left=128,right=128",
    "circulant:nodes=1024,offsets=22+23",
    "hypercube:dim=10",
    "torus:dims=50x50",
)
LARGE = 2


def main() -> None:
    """Print one line per network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the two largest out")
    parser.add_argument("--one", metavar="TOPOLOGY", help="measure one network in this process")
    arguments = parser.parse_args()
    if arguments.one:
        print(_measured(arguments.one))
        return
    print(f"{'network':<40} {'transfers':>10} {'generate':>9} {'verify':>8} {'write':>8} {'read':>8} {'memory':>8}")
    for name in NETWORKS[: -LARGE if arguments.quick else None]:
        subprocess.run([sys.executable, __file__, "--one", name], check=True)


def _measured(name: str) -> str:
    topology = load_topology(name)
    times = [time.perf_counter()]
    schedule = generate(topology, method="bfb")
    times.append(time.perf_counter())
    if not verify(schedule).ok:
        raise SystemExit(f"{name}: a wrong schedule")
    times.append(time.perf_counter())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps.json"
        write_schedule(schedule, path)
        times.append(time.perf_counter())
        read_schedule(path)
        times.append(time.perf_counter())
    passed = " ".join(f"{end - begin:>6.3f} s" for begin, end in pairwise(times))
    return f"{name:<40} {len(schedule):>10}  {passed} {memory:>5} MB"


if __name__ == "__main__":
    main()
