"""Measure time and memory for growing networks of many families: `make bench SUBJECT=scale`, or this file with --quick.

Goal: a verified optimal schedule for 4,096 accelerators in seconds on one core. Every case is the command
`forestcoll generate` in its own process with a time limit. Networks without a builder are first written as topology
files. If a family exceeds the limit at one size, larger sizes are not tried. With --against, each case is also run with
the forestcoll of another commit, right after this one, so that both have the same load. The last table compares the
fast method with the proven method, and with the plain Python reference on networks that are small enough.
"""

import argparse
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

from other_commit import Python, installed
from sizes import bottleneck_and_problem, solve

from forestcoll.algorithms.generate import optimum
from forestcoll.kernels import Core, cores
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import write_topology
from forestcoll.topology.registry import load_topology

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from generate_runs import Run, RunFailed, print_table, processor, run_generate, seconds_of, table_lines, version
from mixed_networks import random_network
from scale_records import record, replace_table

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
    "MI250, no slack": lambda nodes: f"mi250:boxes={nodes // 16},nic_bandwidth=52",
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
    "HyperX with faults": "faulty-hyperx",
}
"""Families without a builder, as kinds of `mixed_networks`. They are written as files."""

COMPARED = ("dgx-a100:boxes=2", "mi250:boxes=1", "torus:dims=3x4", "fat-tree:levels=2,arity=4")
COMPARED_NATIVE = ("dgx-a100:boxes=16", "mi250:boxes=8", "torus:dims=4x4x8")
"""Networks that are too large for plain Python."""

HEAD = ["family", "N", "k", "trees", "optimum s", "trees s", "verify s", "write s", "whole s", "CPU s", "peak MB"]
HEAD += ["height max / mean", "optimal: yes, verified"]
AGAINST_HEAD = ["before CPU s", "before / now"]
COMPARISON_HEAD = ["network", "N", "k", "fast ms", "proven ms", "reference ms", "proven / fast", "reference / fast"]


THIS: Python = (sys.executable,)


@dataclass(frozen=True)
class Stopped:
    """A case without a result, with the reason `why`."""

    why: str


@dataclass(frozen=True)
class Setting:
    """How cases are run: in which folder, for how many seconds at most, and with which other forestcoll, if any.

    `before` is the command of the Python of an environment with the commit that is compared.
    """

    folder: Path
    limit: float
    before: Python | None = None

    @property
    def pythons(self) -> list[Python]:
        """This Python and, if a commit is compared, that of its environment."""
        return [THIS] if self.before is None else [THIS, self.before]

    def compile(self) -> None:
        """Run each Python once, so that no measured run compiles modules to bytecode."""
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(self.folder / "bytecode")
        for python in self.pythons:
            self.run("ring:nodes=4", python)

    def run(self, spec: str, python: Python = THIS) -> Run | Stopped:
        """Run `forestcoll generate` on a network."""
        words = [spec, "-o", str(self.folder / "schedule.json")]
        try:
            return run_generate(words, self.folder, python=python, limit=self.limit)
        except RunFailed as failure:
            return Stopped(failure.why)


@dataclass(frozen=True)
class Case:
    """A network of a family, with the run of this forestcoll and that of the commit that is compared."""

    family: str
    nodes: int
    now: Run | Stopped
    before: Run | Stopped | None = None

    def row(self) -> list[str]:
        """Return the table row."""
        return row_of(self.family, self.nodes, self.now) + ([] if self.before is None else self._compared())

    def _compared(self) -> list[str]:
        before, now = self.before, self.now
        if not isinstance(before, Run):
            return ["-" if before is None else before.why, "-"]
        ratio = f"{before.cpu_seconds / now.cpu_seconds:.1f}" if isinstance(now, Run) else "-"
        return [f"{before.cpu_seconds:.2f}", ratio]


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
        f"{run.cpu_seconds:.2f}",
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


def cases_of(families: Iterable[str], sizes: Sequence[int], setting: Setting) -> Iterator[Case]:
    """Run the cases of all families. Of a family that has no result at one size, larger sizes are not tried."""
    for family in families:
        last: dict[Python, Run | Stopped] = {}
        for nodes in sizes:
            if nodes > BEYOND and family not in SYMMETRIC:
                continue
            spec = spec_of(family, nodes, setting.folder)
            for python in setting.pythons:
                stopped = isinstance(last.get(python), Stopped)
                last[python] = Stopped("not tried") if stopped else setting.run(spec, python)
            yield Case(family, nodes, last[THIS], last[setting.before] if setting.before else None)


def exponents(cases: Sequence[Case]) -> Iterator[list[str]]:
    """Yield the growth of the time of each family."""
    for family in dict.fromkeys(case.family for case in cases):
        runs = [(case.nodes, case.now) for case in cases if case.family == family]
        yield [family, _exponent([(nodes, case_seconds(run)) for nodes, run in runs if isinstance(run, Run)])]


def _exponent(times: Sequence[tuple[int, float]]) -> str:
    if len(times) < 2:
        return "-"
    (fewer, before), (more, after) = times[-2:]
    return f"{math.log(after / before) / math.log(more / fewer):.1f} (N = {fewer} to {more})"


def solve_fast(core: Core, best: TreeOptimum) -> None:
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


def shown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Print a table while its rows are computed, and return its lines."""
    lines = []
    for line in table_lines(head, rows):
        print(line, flush=True)
        lines.append(line)
    return lines


def heading(given: argparse.Namespace) -> str:
    """Return a line that says what was measured, when and where."""
    load = f"{os.getloadavg()[0]:.1f} processes were running or waiting when the measurement began"
    against = f"; compared with commit {given.against}" if given.against else ""
    return (
        f"forestcoll {version()}, Python {platform.python_version()}, {processor()}, {os.cpu_count()} cores, "
        f"{datetime.now(tz=UTC):%Y-%m-%d}; allgather, one process per row, one run, limit {given.limit:g} s; "
        f"{load}{against}"
    )


def measured(given: argparse.Namespace) -> str:
    """Run all cases, record them, and return both tables as Markdown."""
    families = given.family or (WRITTEN if given.irregular else [*BUILT, *WRITTEN])
    largest = 64 if given.quick else given.largest
    tried = IRREGULAR_SIZES if given.irregular else SIZES
    sizes = [size for size in tried if given.smallest <= size <= largest]
    cases: list[Case] = []

    def rows(setting: Setting) -> Iterator[list[str]]:
        for case in cases_of(families, sizes, setting):
            cases.append(case)
            yield case.row()

    first = heading(given)
    print(f"{first}\n")
    with tempfile.TemporaryDirectory() as name, installed(given.against) as before:
        setting = Setting(Path(name), given.limit, before)
        setting.compile()
        head = HEAD + (AGAINST_HEAD if given.against else [])
        lines = [first, "", *shown(head, rows(setting))]
    if given.history is not None:
        record(given.history, ((case.family, case.nodes, case.now) for case in cases if isinstance(case.now, Run)))
    return "\n".join([*lines, *exponent_lines(cases), ""])


def exponent_lines(cases: Sequence[Case]) -> list[str]:
    """Print the table of exponents and return its lines; none if no family was measured at two sizes."""
    rows = [row for row in exponents(cases) if row[1] != "-"]
    if not rows:
        return []
    title = "The exponent of the time of all stages in N, between the two largest finished sizes:"
    print(f"\n{title}\n")
    return ["", title, "", *shown(["family", "exponent"], rows)]


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smallest", type=int, default=0, help="minimum number of compute nodes (0)")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help=f"maximum number of compute nodes ({SIZES[-1]})")
    parser.add_argument("--limit", type=float, default=120.0, help="time limit of a case in seconds (120)")
    parser.add_argument("--quick", action="store_true", help="64 nodes only, and two comparisons")
    parser.add_argument("--irregular", action="store_true", help="only networks without symmetry, from 512 nodes on")
    known = [*BUILT, *WRITTEN]
    parser.add_argument("--family", action="append", choices=known, help="only this family; may be repeated")
    parser.add_argument("--against", metavar="COMMIT", help="also measure the forestcoll of this commit")
    parser.add_argument("--document", type=Path, help="a document whose table is replaced")
    parser.add_argument("--history", type=Path, help="a CSV file to which the figures are added")
    return parser


def main() -> None:
    """Print the tables."""
    given = options().parse_args()
    tables = measured(given)
    if given.document is not None:
        replace_table(given.document, tables)
    if given.irregular or given.document is not None:
        return
    print("\nComparison of the methods; the reference is plain Python and uses the proven method:\n")
    print_table(COMPARISON_HEAD, map(comparison, COMPARED[:2] if given.quick else COMPARED + COMPARED_NATIVE))


if __name__ == "__main__":
    main()
