"""The experiment of §7 of the one-port paper, on random platforms: heuristics next to the optimum.

For each platform of `tiers` and each random platform, the series of broadcasts along the trees of four heuristics,
along the best tree and over the best DAG is compared with the optimum over all schedules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean

from matplotlib.figure import Figure

from exhibits.exhibit import Result, Settings, verdict_of
from exhibits.exhibit import table as table_of
from forestcoll.oneport.message.atomic import heuristic_trees
from forestcoll.oneport.series.best_tree import tree_throughput
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from oneport_platforms import one_port_platform

PLATFORMS = 10
"""The number of platforms of each kind."""


@dataclass(frozen=True)
class Measured:
    """The parts of the optimum that are reached on one platform, and the size of the optimal schedule.

    `proven` says whether the best DAG is known to be the best.
    """

    parts: dict[str, Fraction]
    trees: int
    rounds: int
    proven: bool


def measured(topology: Topology) -> Measured:
    """Compare all methods with the optimum."""
    compared = compare_series(topology, 0)
    schedule = compared.schedule()
    if not verify(schedule).optimal:
        raise ValueError(f"{topology.name}: the schedule is wrong")
    best, platform = compared.best.throughput, compared.best.platform
    parts = {
        each.value.replace("-", " "): tree_throughput(platform, SeriesTree(Fraction(1), routes)) / best
        for each, routes in heuristic_trees(platform).items()
    }
    parts |= {"best tree": compared.tree.throughput / best, "best DAG": compared.dag.throughput / best}
    return Measured(parts, len(schedule.trees), len(schedule.rounds), compared.dag.optimal)


def families() -> dict[str, list[Topology]]:
    """Return the platforms of each kind."""
    numbers = range(1, PLATFORMS + 1)
    return {
        "tiers, 30 nodes": [build_topology(f"tiers:seed={seed}") for seed in numbers],
        "random, 20 nodes, 80 links": [one_port_platform(20, 80, 1, 10, seed) for seed in numbers],
        "random, 20 nodes, 160 links": [one_port_platform(20, 160, 5, 10, seed) for seed in numbers],
    }


def table(results: dict[str, list[Measured]]) -> list[str]:
    """Return the table: the mean and the least part of the optimum."""
    names = list(results)
    rows: list[tuple[str, ...]] = [
        (method, *(_cell([each.parts[method] for each in results[name]]) for name in names))
        for method in next(iter(results.values()))[0].parts
    ]
    rows.append(("optimum", *("100%" for _ in names)))
    sizes = (
        f"{max(each.trees for each in results[name])} trees, {max(each.rounds for each in results[name])} rounds"
        for name in names
    )
    rows.append(("largest optimal schedule", *sizes))
    return table_of(["series along", *names], rows)


def _cell(parts: Sequence[Fraction]) -> str:
    return f"{float(mean(parts)):.1%}, at least {float(min(parts)):.1%}"


def drawn(results: dict[str, list[Measured]]) -> Figure:
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
    figure.axes[0].legend(fontsize="small", loc="lower right")
    return figure


def experiment(_settings: Settings) -> Result:
    """Return Figure 7 on random platforms."""
    results = {name: [measured(each) for each in found] for name, found in families().items()}
    parts = [each.parts for found in results.values() for each in found]
    tree, dag = (float(mean(each[name] for each in parts)) for name in ("best tree", "best DAG"))
    proven = sum(each.proven for found in results.values() for each in found)
    summary = (
        f"The platform of the paper is only drawn, so the experiment is made on {len(parts)} random platforms. On "
        f"average, the best tree reaches {tree:.1%} of the optimum, and the best DAG {dag:.1%}, which is proven to be "
        f"the best on {proven} of them. The heuristics of §8, for which the paper prints no values, reach less than "
        "the best tree."
    )
    return Result(verdict_of(same=False), summary, table(results), drawn(results))
