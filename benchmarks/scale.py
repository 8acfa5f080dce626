"""Measure time and memory for growing networks of many families: `make bench-scale`, or this file with --quick.

Goal: a verified optimal schedule for 4,096 accelerators in seconds on one core. Every case is the command
`forestcoll generate` in its own process with a time limit. Networks without a builder are first written as topology
files. If a family exceeds the limit at one size, larger sizes are not tried. The last table compares the fast method
with the proven method, and with the plain Python reference on networks that are small enough.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

from mixed_networks import random_network
from sizes import Run, bottleneck_and_problem, print_table, processor, seconds_of, solve, version

from forestcoll.core import Core, cores
from forestcoll.forest_optimum.value import Optimum
from forestcoll.solver.optimum import optimum
from forestcoll.topology import write_topology
from forestcoll.topology.registry import load_topology

SIZES = (64, 128, 256, 1024, 4096, 16384)
SEED = "2"
"""The seed of the random networks. With it, hierarchies have k = 65, 51, 25 and 25."""

BEYOND = 4096
"""Only the families in `SYMMETRIC` are tried with more nodes. Their schedules then have base trees."""

IRREGULAR_SIZES = (512, 1024, 2048, 4096)

SYMMETRIC = ("DGX A100", "MI250", "3D torus")

DRAGONFLIES = {
    64: "routers=4,nodes=2,global_links=2,groups=8",
    128: "routers=4,nodes=4,global_links=2,groups=8",
    256: "routers=4,nodes=4,global_links=4,groups=16",
    1024: "routers=8,nodes=4,global_links=4,groups=32",
    4096: "routers=8,nodes=8,global_links=8,groups=64",
}
TORI = {64: "4x4x4", 128: "4x4x8", 256: "4x8x8", 1024: "8x8x16", 4096: "16x16x16", 16384: "16x32x32"}

FAT_TREES = {
    64: "levels=3,arity=4",
    128: "levels=7,arity=2",
    256: "levels=4,arity=4",
    1024: "levels=5,arity=4",
    4096: "levels=6,arity=4",
}

BUILT: Mapping[str, Callable[[int], str]] = {
    "DGX A100": lambda nodes: f"dgx-a100:boxes={nodes // 8}",
    "DGX H100": lambda nodes: f"dgx-h100:boxes={nodes // 8}",
    "MI250": lambda nodes: f"mi250:boxes={nodes // 16}",
    "MI250, no slack": lambda nodes: f"mi250:boxes={nodes // 16},ib_bandwidth=52",
    "fat tree": lambda nodes: f"fat-tree:{FAT_TREES[nodes]}",
    "dragonfly": lambda nodes: f"dragonfly:{DRAGONFLIES[nodes]}",
    "3D torus": lambda nodes: f"torus:dims={TORI[nodes]}",
}
"""Families with a builder, as arguments of `generate`."""

WRITTEN = {
    "A100 with faults": "faulty-boxes",
    "random with switches": "switched",
    "three-level hierarchy": "hierarchy",
    "leaf/spine with faults": "leaf-spine",
    "rails with faults": "rails",
    "half A100, half H100": "two-generations",
    "odd pods": "odd-pods",
    "dragonfly with faults": "faulty-dragonfly",
}
"""Families without a builder, as kinds of `mixed_networks`. They are written as files."""

COMPARED = ("dgx-a100:boxes=2", "mi250:boxes=1", "torus:dims=3x4", "fat-tree:levels=2,arity=4")
COMPARED_NATIVE = ("dgx-a100:boxes=16", "mi250:boxes=8", "torus:dims=4x4x8")
"""Networks that are too large for plain Python."""

HEAD = ["family", "N", "k", "trees", "optimum s", "trees s", "verify s", "write s", "whole s", "peak MB"]
HEAD += ["height max / mean", "optimal: yes, verified"]
COMPARISON_HEAD = ["network", "N", "k", "fast ms", "proven ms", "reference ms", "proven / fast", "reference / fast"]


@dataclass(frozen=True)
class Stopped:
    """A case without a result, with the reason `why`."""

    why: str


def generate(spec: str, folder: Path, limit: float) -> Run | Stopped:
    """Run `forestcoll generate` in a process that is stopped after `limit` seconds."""
    words = [sys.executable, "-m", "forestcoll", "generate", spec, "-o", str(folder / "schedule.json"), "--json"]
    answer = folder / "answer.json"
    began = time.perf_counter()
    with answer.open("wb") as out, subprocess.Popen(words, stdout=out) as process:
        timer = threading.Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode != 0:
        return Stopped("over the limit" if seconds >= limit else f"FAILED: exit status {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(json.loads(answer.read_bytes()), seconds, usage.ru_maxrss * unit)


def row_of(family: str, nodes: int, run: Run | Stopped) -> list[str]:
    """Return the table row of a case."""
    if isinstance(run, Stopped):
        return [family, str(nodes), *["-"] * (len(HEAD) - 3), run.why]
    document = run.document
    return [
        family,
        str(document["compute_nodes"]),
        str(document["trees_per_root"]),
        str(document["trees"]),
        *(f"{seconds:.3f}" for seconds in run.stage_seconds().values()),
        f"{run.seconds:.2f}",
        f"{run.peak_bytes / 1e6:.0f}",
        f"{document['greatest_height']} / {document['mean_height']:.1f}",
        "yes, yes" if document["optimal"] and document["verified"] else "NO",
    ]


def spec_of(family: str, nodes: int, folder: Path) -> str:
    """Return the topology argument of `generate`. A network without a builder is written to a file."""
    if family in BUILT:
        return BUILT[family](nodes)
    path = folder / "network.json"
    write_topology(random_network(WRITTEN[family], SEED, nodes), path)
    return str(path)


def case_seconds(run: Run) -> float:
    """Return the time of all stages in seconds. It does not include the start of Python."""
    return sum(cast("dict[str, float]", run.document["seconds"]).values())


class Cases:
    """Runs the cases of all families. Afterwards `exponents` holds the growth of the time of each family."""

    def __init__(self, families: Sequence[str], sizes: Sequence[int], limit: float, folder: Path) -> None:
        self.exponents: dict[str, str] = {}
        self._families, self._sizes, self._limit, self._folder = families, sizes, limit, folder

    def rows(self) -> Iterator[list[str]]:
        """Yield one row per case."""
        for family in self._families:
            yield from self._family(family)

    def _family(self, family: str) -> Iterator[list[str]]:
        times: list[tuple[int, float]] = []
        run: Run | Stopped | None = None
        for nodes in self._sizes:
            if nodes > BEYOND and family not in SYMMETRIC:
                continue
            if isinstance(run, Stopped):
                run = Stopped("not tried")
            else:
                run = generate(spec_of(family, nodes, self._folder), self._folder, self._limit)
            if isinstance(run, Run):
                times.append((nodes, case_seconds(run)))
            yield row_of(family, nodes, run)
        self.exponents[family] = _exponent(times)


def _exponent(times: Sequence[tuple[int, float]]) -> str:
    if len(times) < 2:
        return "-"
    (fewer, before), (more, after) = times[-2:]
    return f"{math.log(after / before) / math.log(more / fewer):.1f} (N = {fewer} to {more})"


def solve_fast(core: Core, best: Optimum) -> None:
    """Find the bottleneck and the trees of `best` with the fast method."""
    core.grow_trees(bottleneck_and_problem(core, best), best.trees_per_root, prove=False)


def comparison(spec: str) -> list[str]:
    """Return the row that compares the methods."""
    best = optimum(load_topology(spec))
    fast = seconds_of(partial(solve_fast, cores()["narrow"], best))
    proven = seconds_of(partial(solve, cores()["narrow"], best))
    row = [spec, str(len(best.topology.compute)), str(best.trees_per_root)]
    row += [f"{fast * 1000:.2f}", f"{proven * 1000:.2f}"]
    if spec in COMPARED_NATIVE:
        return [*row, "-", f"{proven / fast:,.1f}", "-"]
    reference = seconds_of(partial(solve, cores()["reference"], best))
    return [*row, f"{reference * 1000:.0f}", f"{proven / fast:,.1f}", f"{reference / fast:,.0f}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help=f"maximum number of compute nodes ({SIZES[-1]})")
    parser.add_argument("--limit", type=float, default=120.0, help="time limit of a case in seconds (120)")
    parser.add_argument("--quick", action="store_true", help="64 nodes only, and two comparisons")
    parser.add_argument("--irregular", action="store_true", help="only networks without symmetry, from 512 nodes on")
    arguments = parser.parse_args()
    largest = min(arguments.largest, 64) if arguments.quick else arguments.largest
    print(
        f"forestcoll {version()}, Python {platform.python_version()}, {processor()}, {os.cpu_count()} cores, "
        f"{datetime.now(tz=UTC):%Y-%m-%d}; allgather, one process per row, one run, limit {arguments.limit:g} s\n"
    )
    with tempfile.TemporaryDirectory() as name:
        families, sizes = (tuple(WRITTEN), IRREGULAR_SIZES) if arguments.irregular else ((*BUILT, *WRITTEN), SIZES)
        cases = Cases(families, [size for size in sizes if size <= largest], arguments.limit, Path(name))
        print_table(HEAD, cases.rows())
    print("\nThe exponent of the time of all stages in N, between the two largest finished sizes:\n")
    print_table(["family", "exponent"], cases.exponents.items())
    if arguments.irregular:
        return
    print("\nComparison of the methods; the reference is plain Python and uses the proven method:\n")
    print_table(COMPARISON_HEAD, map(comparison, COMPARED[:2] if arguments.quick else COMPARED + COMPARED_NATIVE))


if __name__ == "__main__":
    main()
