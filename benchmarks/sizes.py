"""Measure the time of a verified schedule from a cold start, by network size: `make bench`, or this file with --quick.

Goal: a verified schedule file for a thousand accelerators in seconds on one core. Every run is the command line in its
own process. A table shows the time of each stage. A second table compares the native core with the plain Python
reference of the same algorithms, on networks that are small enough.
"""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from forestcoll.algorithms.generate import optimum
from forestcoll.kernels import AnyProblem, Core, cores
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology.registry import build_topology

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from generate_runs import Run, print_table, processor, run_generate, seconds_of, version

SIZES = (
    *(f"dgx-a100:boxes={boxes}" for boxes in (2, 8, 32, 64)),
    *(f"mi250:boxes={boxes}" for boxes in (2, 8, 16)),
)
QUICK_SIZES = ("dgx-a100:boxes=2", "dgx-a100:boxes=8", "mi250:boxes=2")
SMALL = ("ring:nodes=16", "dgx-a100:boxes=1", "hypercube:dim=4", "dgx-a100:boxes=2")
QUICK_SMALL = ("ring:nodes=8", "dgx-a100:boxes=1")

LONG_SECONDS = 10.0
"""A run that takes longer is not repeated."""


def generate(spec: str, folder: Path) -> Run:
    """Run `forestcoll generate` in a process. It writes a file."""
    return run_generate([spec, "-o", str(folder / "schedule.json")], folder)


def median_run(spec: str, folder: Path, times: int) -> Run:
    """Return the run with the median time of `times` runs. A long run is not repeated."""
    runs = [generate(spec, folder)]
    while len(runs) < times and runs[0].seconds <= LONG_SECONDS:
        runs.append(generate(spec, folder))
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def row_of(run: Run) -> list[str]:
    """Return the table row of a run."""
    document = run.document
    return [
        str(document["topology"]),
        str(document["compute_nodes"]),
        str(document["trees_per_root"]),
        str(document["trees"]),
        f"{document['greatest_height']} / {document['mean_height']:.1f}",
        f"{run.seconds:.2f}",
        *(f"{seconds:.3f}" for seconds in run.stage_seconds().values()),
        f"{run.peak_bytes / 1e6:.0f}",
        "yes" if document["optimal"] and document["verified"] else "NO",
    ]


HEAD = ["network", "N", "k", "trees", "height max / mean", "whole s", "optimum s", "trees s", "verify s", "write s"]
HEAD += ["peak MB", "optimal"]


def bottleneck_and_problem(core: Core, best: TreeOptimum) -> AnyProblem:
    """Find the bottleneck of the network of `best` with `core`, and return the problem whose trees reach it."""
    links = best.topology.links
    tails, heads = [link.source for link in links], [link.target for link in links]

    def problem(capacities: Sequence[int]) -> AnyProblem:
        return core.Problem(len(best.topology.nodes), tails, heads, list(capacities), list(best.topology.compute))

    core.bottleneck(problem(ScaledTopology.of(best.topology).capacities))
    return problem(best.forests[0].tree_capacities())


def solve(core: Core, best: TreeOptimum) -> None:
    """Find the bottleneck and the trees of `best` by the proven method with `core`."""
    scaled = bottleneck_and_problem(core, best)
    logical = core.remove_switches(scaled, best.trees_per_root)
    batches, _ = core.pack_trees(scaled, logical, best.trees_per_root)
    core.route_trees(scaled, logical, batches)


def comparison(spec: str) -> list[str]:
    """Return the row that compares the cores."""
    best = optimum(build_topology(spec))
    native, reference = (seconds_of(partial(solve, cores()[name], best)) for name in ("narrow", "reference"))
    return [
        spec,
        str(len(best.topology.compute)),
        str(best.trees_per_root),
        f"{native * 1000:.2f}",
        f"{reference * 1000:.0f}",
        f"{reference / native:,.0f}",
    ]


COMPARISON_HEAD = ["network", "N", "k", "native ms", "Python reference ms", "ratio"]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small networks only, one run each")
    quick = parser.parse_args().quick
    print(
        f"forestcoll {version()}, Python {platform.python_version()}, {processor()}, {os.cpu_count()} cores, "
        f"{datetime.now(tz=UTC):%Y-%m-%d}; allgather, one process per row, "
        f"{'one run' if quick else 'median of three (one if long)'}\n"
    )
    with tempfile.TemporaryDirectory() as name:
        sizes, times = (QUICK_SIZES, 1) if quick else (SIZES, 3)
        print_table(HEAD, (row_of(median_run(spec, Path(name), times)) for spec in sizes))
    print("\nThe proven method in the native core and in the plain Python reference:\n")
    print_table(COMPARISON_HEAD, map(comparison, QUICK_SMALL if quick else SMALL))


if __name__ == "__main__":
    main()
