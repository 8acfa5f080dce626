"""Compare the time of every collective with that of allgather at 1,024 nodes: whole processes, medians, ratios.

Goal: reduce-scatter, broadcast and reduce are as fast as allgather. An allreduce takes at most twice the time if it
consists of a reduce-scatter and an allgather. Its linear program takes less than a minute for 64 compute nodes without
symmetry. Each run is the command `forestcoll generate` without a file. The root of the broadcast is the first compute
node. The runs of different collectives alternate.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.solver.allreduce.linear_program import AllreduceOptimum, allreduce_optimum, columns_needed
from forestcoll.topology.registry import load_topology
from forestcoll.topology.symmetry.orbits import Orbits

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from generate_runs import Run, print_table, processor, run_generate, seconds_of, version
from mixed_networks import random_network

SPECS = ("dgx-a100:boxes=128", "dgx-h100:boxes=128,nvls=true", "mi250:boxes=64", "torus:dims=32x32")
SMALL_SPECS = ("dgx-a100:boxes=8", "torus:dims=8x8")
PROGRAMS = (("switched", 64), ("hierarchy", 64), ("faulty-boxes", 64), ("switched", 128))
"""Kinds of `mixed_networks`, with numbers of compute nodes."""

PROGRAM_STAGE = "solving the linear program of allreduce"

HEAD = ["network", "N", "collective", "algbw", "whole s", "/ allgather", "program s", "peak MB"]


def words_of(spec: str, collective: Collective) -> list[str]:
    """Return the arguments of `generate`."""
    topology = load_topology(spec)
    root = ["--root", str(topology.nodes[topology.compute[0]].id)] if collective.has_root else []
    return [spec, "--collective", collective.value, *root]


def rows(specs: Sequence[str], times: int, folder: Path) -> Iterator[list[str]]:
    """Yield one row per network and collective. The runs of the collectives of a network alternate."""
    for spec in specs:
        runs: dict[Collective, list[Run]] = {each: [] for each in SCHEDULED}
        for _ in range(times):
            for collective, made in runs.items():
                made.append(run_generate(words_of(spec, collective), folder))
        base = statistics.median(run.seconds for run in runs[Collective.ALLGATHER])
        for collective, made in runs.items():
            yield _row(spec, collective, made, base)


def _row(spec: str, collective: Collective, runs: Sequence[Run], base: float) -> list[str]:
    seconds = statistics.median(run.seconds for run in runs)
    document = runs[0].document
    stages = [cast("dict[str, float]", run.document["seconds"]).get(PROGRAM_STAGE, 0.0) for run in runs]
    return [
        spec,
        str(document["compute_nodes"]),
        collective.value,
        str(document["algbw"]),
        f"{seconds:.2f}",
        f"{seconds / base:.2f}",
        f"{statistics.median(stages):.2f}" if any(stages) else "-",
        f"{max(run.peak_bytes for run in runs) / 1e6:.0f}",
    ]


def program_row(kind: str, nodes: int) -> list[str]:
    """Return the time of the linear program of a random network, and whether its solution is exact."""
    topology = random_network(kind, "1", nodes)
    orbits = Orbits.of(topology)
    found: list[AllreduceOptimum] = []
    seconds = seconds_of(lambda: found.append(allreduce_optimum(topology, orbits=orbits)))
    columns = columns_needed(topology, orbits)
    return [kind, str(len(topology.compute)), f"{columns:,}", f"{seconds:.2f}", "yes" if found[0].exact else "NO"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=3, help="number of runs of each case (3)")
    parser.add_argument("--quick", action="store_true", help="64 nodes only")
    arguments = parser.parse_args()
    print(
        f"forestcoll {version()}, Python {platform.python_version()}, {processor()}, {os.cpu_count()} cores, "
        f"{datetime.now(tz=UTC):%Y-%m-%d}; medians of {arguments.times} runs\n"
    )
    with tempfile.TemporaryDirectory() as name:
        print_table(HEAD, rows(SMALL_SPECS if arguments.quick else SPECS, arguments.times, Path(name)))
    print("\nThe linear program of allreduce on random networks:\n")
    programs = PROGRAMS[:1] if arguments.quick else PROGRAMS
    print_table(["network", "N", "columns", "s", "exact"], (program_row(kind, nodes) for kind, nodes in programs))


if __name__ == "__main__":
    main()
