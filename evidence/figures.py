"""Figures 3, 7, 15 and 18 of the direct-connect paper: sizes of networks, and the best network of each size.

Figure 3: line graphs of Moore-optimal and bandwidth-optimal bases. Figure 7: allreduce and all-to-all at large N,
compared with shifted rings, double binary trees and tori. Figure 15: the best network of every size for two workloads.
Figure 18: the bandwidth of generalized Kautz graphs. Each function draws into a figure.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, log2

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestcoll.design.constructions import Base, Construction
from forestcoll.design.expansions.line_graph import LineGraph
from forestcoll.design.measure import least_factor, moore_steps
from forestcoll.design.path_rates import path_rates
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.search.finder import TopologyFinder
from forestcoll.design.wiring import Wiring
from forestcoll.design.workloads.workload import Workload, WorkloadTraffic, allreduce_time_us, best_for
from forestcoll.topology.registry import build_topology

ALPHA, BANDWIDTH, DEGREE = Fraction(10), Fraction(25, 2), 4
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#bab0ac")


def line_graphs(figure: Figure, largest: int) -> None:
    """Draw Figure 3: steps and bandwidth of line graphs against the number of nodes."""
    steps, factors = figure.subplots(1, 2)
    for (nodes, name), colour in zip(
        ((8, "K(4,4)"), (5, "K(5)"), (6, "DirCirculant(4)"), (9, "H(2,3)")), _COLOURS, strict=False
    ):
        (base,) = [each for each in bases(nodes, DEGREE) if each.name == name]
        grown: list[Construction] = [base]
        while grown[-1].nodes * DEGREE <= 100 * largest:
            grown.append(LineGraph.of(grown[-1]))
        sizes = [each.nodes for each in grown]
        steps.plot(sizes, [each.cost.steps for each in grown], "o-", color=colour, label=name)
        ratios = [float(each.cost.bandwidth_factor / least_factor(each.nodes)) for each in grown]
        factors.plot(sizes, ratios, "o-", color=colour, label=name)
    sizes = sorted({round(2 ** (tenths / 10)) for tenths in range(25, int(10 * log2(100 * largest)))})
    steps.plot(sizes, [moore_steps(size, DEGREE) for size in sizes], "k:", label="Moore bound")
    _label(steps, "nodes", "T_L (steps)", "Line graphs stay at the Moore bound", logarithmic=True)
    _label(factors, "nodes", "T_B / least T_B", "and within a constant of the best bandwidth", logarithmic=True)


def large_networks(figure: Figure, largest: int) -> None:
    """Draw Figure 7: allreduce and all-to-all of 2^20 bytes against the number of nodes."""
    allreduce, all_to_all = figure.subplots(1, 2)
    workload = Workload(WorkloadTraffic.ALLREDUCE, 2**20, ALPHA, BANDWIDTH)
    published, everything = TopologyFinder(published_only=True), TopologyFinder()
    sizes = sorted({*range(16, largest + 1, max(largest // 40, 1)), largest})
    allreduce.plot(sizes, [2 * (size - 1) * 10 + 2 * _whole(size) for size in sizes], label="shifted rings")
    allreduce.plot(sizes, [tree_time(size) for size in sizes], label="double binary tree, pipelined")
    squares = [side * side for side in range(4, isqrt(largest) + 1, 2)]
    allreduce.plot(
        squares, [2 * 2 * (isqrt(size) // 2) * 10 + 2 * _whole(size) for size in squares], label="2D torus (BFB)"
    )
    for finder, name in ((published, "the paper's bases"), (everything, "all bases")):
        best = [best_for(finder.find(size, DEGREE).members, workload) for size in sizes]
        allreduce.plot(sizes, [float(allreduce_time_us(each, workload)) for each in best], label=f"best, {name}")
    bound = [2 * (moore_steps(size, DEGREE) * 10 + _whole(size)) for size in sizes]
    allreduce.plot(sizes, bound, "k:", label="bound")
    _all_to_all_curves(all_to_all, sizes, squares, everything)
    _label(allreduce, "nodes", "allreduce (us)", "Allreduce of 1 MiB, alpha 10 us, 100 Gb/s", logarithmic=False)
    _label(
        all_to_all, "nodes", "all-to-all (us)", "All-to-all of 1 MiB per node over shortest paths", logarithmic=False
    )
    for axes in (allreduce, all_to_all):
        axes.set_yscale("log")


def _all_to_all_curves(axes: Axes, sizes: Sequence[int], squares: Sequence[int], finder: TopologyFinder) -> None:
    rings = [_rate_time(Wiring.of_topology(build_topology(f"ring:nodes={size}")), size, 2) for size in sizes]
    axes.plot(sizes, rings, label="rings")
    tori = [
        _rate_time(Wiring.of_topology(build_topology(f"torus:dims={isqrt(size)}x{isqrt(size)}")), size)
        for size in squares
    ]
    axes.plot(squares, tori, label="2D torus")
    graphs = [graph for size in sizes if (graph := kautz(size, DEGREE)) is not None]
    axes.plot(sizes, [_rate_time(graph.wiring, graph.nodes) for graph in graphs], label="generalized Kautz")
    circulants = [_rate_time(_named(size, "C(").wiring, size) for size in sizes]
    axes.plot(sizes, circulants, label="circulant")
    best = [min(_rate_time(each.wiring, size) for each in finder.find(size, DEGREE).members) for size in sizes]
    axes.plot(sizes, best, label="best of the frontier")
    axes.plot(sizes, [_least_rate_time(size) for size in sizes], "k:", label="bound")


def _named(nodes: int, prefix: str) -> Base:
    return next(each for each in bases(nodes, DEGREE) if each.name.startswith(prefix))


def _whole(nodes: int) -> float:
    """Return the least T_B for 2^20 bytes at 100 Gb/s, in microseconds."""
    return float(least_factor(nodes)) * 2**20 / 12_500


def _rate_time(wiring: Wiring, nodes: int, degree: int = DEGREE) -> float:
    return 2**20 / nodes / (12_500 / degree * path_rates(wiring).reached)


def _least_rate_time(nodes: int) -> float:
    """Return a lower bound on the all-to-all time, from the distances in the best possible one-way network."""
    far, ring, hops, total = nodes - 1, 1, 0, 0
    while far > 0:
        ring, hops = ring * DEGREE, hops + 1
        total += min(ring, far) * hops
        far -= ring
    return 2**20 / nodes * total / 12_500


def tree_time(nodes: int) -> float:
    """Return the time of a double binary tree with the best number of chunks."""
    height = log2(nodes + 1)
    pieces = range(1, 400)
    return min(2 * (height + piece - 1) * (10 + 2**20 / piece / 12_500 * 2) for piece in pieces)


def best_networks(figure: Figure, largest: int) -> None:
    """Draw Figure 15: the least allreduce time of each size, with a colour for each kind of network."""
    finder, two_way = TopologyFinder(), TopologyFinder(bidirectional=True)
    for axes, (name, size) in zip(figure.subplots(1, 2), (("1 MB", 10**6), ("100 MB", 10**8)), strict=True):
        workload = Workload(WorkloadTraffic.ALLREDUCE, size, ALPHA, BANDWIDTH)
        sizes = range(8, largest + 1, max(largest // 256, 1))
        best = [best_for(finder.find(nodes, DEGREE).members, workload) for nodes in sizes]
        kinds = [kind_of(each) for each in best]
        colours = dict(zip(dict(Counter(kinds).most_common()), _COLOURS, strict=False))
        for kind, colour in colours.items():
            spots = [
                (nodes, float(allreduce_time_us(each, workload)))
                for nodes, each, its in zip(sizes, best, kinds, strict=True)
                if its == kind
            ]
            axes.scatter(*zip(*spots, strict=True), s=7, color=colour, label=kind)
        both = [best_for(two_way.find(nodes, DEGREE).members, workload) for nodes in sizes]
        axes.plot(
            sizes,
            [float(allreduce_time_us(each, workload)) for each in both],
            "0.6",
            linewidth=0.8,
            label="bidirectional",
        )
        bound = [
            2 * float(moore_steps(nodes, DEGREE) * ALPHA + least_factor(nodes) * workload.whole_time_us)
            for nodes in sizes
        ]
        axes.plot(sizes, bound, "k:", label="bound")
        _label(axes, "nodes", "allreduce (us)", f"Best network for {name}", logarithmic=False)


def kind_of(construction: Construction) -> str:
    """Return the kind of network for the legend of Figure 15."""
    head = type(construction).__name__
    if not isinstance(construction, Base):
        return {"LineGraph": "line graph", "CartesianProduct": "product", "CartesianPower": "power"}.get(
            head, "other expansion"
        )
    for prefix, kind in (
        ("Cayley", "Cayley"),
        ("BiCayley", "Cayley"),
        ("Π", "generalized Kautz"),
        ("DBJ(", "de Bruijn"),
        ("C(", "circulant"),
    ):
        if construction.name.startswith(prefix):
            return kind
    return "other base"


def kautz_bandwidth(figure: Figure, largest: int) -> None:
    """Draw Figure 18: T_B of generalized Kautz graphs, divided by the least T_B."""
    axes = figure.subplots()
    for degree, colour in zip((2, 4, 8), _COLOURS, strict=False):
        sizes = range(degree + 2, largest + 1, 1 if degree < 8 else max(largest // 64, 1))
        found = [graph for nodes in sizes if (graph := kautz(nodes, degree)) is not None]
        ratios = [float(base.cost.bandwidth_factor / least_factor(base.nodes)) for base in found]
        axes.plot(sizes, ratios, linewidth=0.8, color=colour, label=f"degree {degree}")
    _label(axes, "nodes", "T_B / least T_B", "Generalized Kautz graphs", logarithmic=False)


def _label(axes: Axes, across: str, upward: str, title: str, *, logarithmic: bool) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(upward)
    axes.set_title(title)
    if logarithmic:
        axes.set_xscale("log", base=2)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, frameon=False)
