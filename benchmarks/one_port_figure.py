"""The experiment of §7 of *Steady-state broadcasts* on random platforms: heuristics next to the optimum.

    .venv/bin/python benchmarks/one_port_figure.py [FOLDER] [--seeds N] [--page PAGE]

For each platform of `tiers` and each random platform, the series of broadcasts along the trees of four heuristics,
along the best tree and over the best DAG is compared with the optimum over all schedules. The picture and
the table are written into build/figures; `--page docs/one-port.md` also updates the table there. The program is a part
of `make figures`. It needs matplotlib (`pip install 'forestcoll[pictures]'`) and takes about a minute.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import mean

import one_port
from forest_figures import renewed
from matplotlib.figure import Figure

from forestcoll.oneport.atomic import heuristic_trees
from forestcoll.oneport.best_tree import tree_throughput
from forestcoll.oneport.comparison import compare_series
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify

_NAME = "one-port-figure-7"


@dataclass(frozen=True)
class Result:
    """The parts of the optimum that are reached on one platform, and the size of the optimal schedule."""

    parts: dict[str, Fraction]
    trees: int
    rounds: int


def measured(topology: Topology) -> Result:
    """Compare all methods with the optimum."""
    compared = compare_series(topology, 0)
    schedule = compared.schedule()
    if not verify(schedule).optimal:
        raise SystemExit(f"{topology.name}: the schedule is wrong")
    best, platform = compared.best.throughput, compared.best.platform
    parts = {
        each.value.replace("-", " "): tree_throughput(platform, SeriesTree(Fraction(1), routes)) / best
        for each, routes in heuristic_trees(platform).items()
    }
    parts |= {"best tree": compared.tree.throughput / best, "best DAG": compared.dag.throughput / best}
    return Result(parts, len(schedule.trees), len(schedule.rounds))


def families(seeds: int) -> dict[str, list[Topology]]:
    """Return the platforms of each kind."""
    numbers = range(1, seeds + 1)
    return {
        "tiers, 30 nodes": [build_topology(f"tiers:seed={seed}") for seed in numbers],
        "random, 20 nodes, 80 links": [one_port.platform(20, 80, 1, 10, seed) for seed in numbers],
        "random, 20 nodes, 160 links": [one_port.platform(20, 160, 5, 10, seed) for seed in numbers],
    }


def table(results: dict[str, list[Result]]) -> list[str]:
    """Return the table: the mean and the least part of the optimum."""
    names = list(results)
    lines = ["| series along | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for method in next(iter(results.values()))[0].parts:
        cells = [_cell([each.parts[method] for each in results[name]]) for name in names]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines.append("| optimum | " + " | ".join("100%" for _ in names) + " |")
    sizes = [
        f"{max(each.trees for each in results[name])} trees, {max(each.rounds for each in results[name])} rounds"
        for name in names
    ]
    lines.append("| largest optimal schedule | " + " | ".join(sizes) + " |")
    return lines


def _cell(parts: Sequence[Fraction]) -> str:
    return f"{float(mean(parts)):.1%}, at least {float(min(parts)):.1%}"


def drawn(results: dict[str, list[Result]]) -> Figure:
    """Draw the part of the optimum on each platform, in ascending order for each method."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(1, len(results), sharey=True), results.items(), strict=True):
        for method in found[0].parts:
            axes.plot(sorted(float(each.parts[method]) for each in found), "o-", markersize=3, label=method)
        axes.axhline(1, color="black", linestyle=":", label="optimum")
        axes.set_title(name)
        axes.set_xlabel("platforms, in ascending order for each method")
    figure.axes[0].set_ylabel("part of the optimal throughput")
    figure.axes[0].set_ylim(0, 1.05)
    figure.axes[-1].legend(fontsize="small")
    return figure


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/figures"))
    parser.add_argument("--seeds", type=int, default=10, help="platforms of each kind")
    parser.add_argument("--page", type=Path, help="also update the table in this page: docs/one-port.md")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = {name: [measured(each) for each in found] for name, found in families(arguments.seeds).items()}
    lines = table(results)
    (arguments.folder / f"{_NAME}.md").write_text("\n".join([f"![{_NAME}]({_NAME}.png)", "", *lines, ""]), "utf-8")
    drawn(results).savefig(arguments.folder / f"{_NAME}.png", dpi=130)
    if arguments.page is not None:
        arguments.page.write_text(renewed(arguments.page, _NAME, lines), "utf-8")
    print(arguments.folder / f"{_NAME}.md")


if __name__ == "__main__":
    main()
